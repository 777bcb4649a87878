import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that can be filled up. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all there is; `empty` gives it back. */
  fill(): void;
  empty(): void;
  close(): void;
}

/** Null where none may be mounted: only root can, and not inside every container. */
export function openSmallDisk(megabytes: number, owner?: { uid: number; gid: number }): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-small-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder]);
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    return null;
  }
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    },
    empty: () => rmSync(ballast, { force: true }),
    close() {
      // Lazily: a server may still have a file open there for a moment.
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
