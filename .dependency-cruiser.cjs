// The layer rules of DESIGN 11, held on the emitted build (`tsc -p tsconfig.build.json`): there a type import is gone,
// so what is left is what really runs. Imports of types are held by .oxlintrc.json on the source.
// Each rule has a planted breach in test/fixtures/layers, which test/unit/layers.test.ts sees refused.

const PACKAGES = '(^|/)node_modules/';
const packages = (...names) => `${PACKAGES}(${names.join('|')})/`;
const layers = (...names) => `^dist/(${names.join('|')})/`;

/** A layer may import itself and what is named, and nothing else; `node: false` refuses Node's modules as well. */
function layer(name, { from = layers(name), may, node = true, comment }) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: from },
    to: { pathNot: [from, ...may], ...(node ? { dependencyTypesNot: ['core'] } : {}) },
  };
}

const SIMULATOR = '^dist/providers/[^/]+/simulator[^/]*\\.js$';
const KIT = '^dist/providers/simulator-kit/';
/** What seals and opens, which is no outside party alone: whoever keeps sealed values uses it. */
const KEYS = '^dist/providers/keys/';

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Two files that import each other are one file, or need a third below them.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-imports-an-entry-point',
      comment: 'Entry points compose; what two of them share belongs in a layer.',
      severity: 'error',
      from: { path: '^dist/[^/]+/' },
      to: { path: '^dist/[^/]+\\.js$' },
    },
    layer('config', {
      from: '^dist/config[^/]*\\.js$',
      may: [packages('zod')],
      node: false,
      comment: 'config.ts reads the environment and knows zod alone.',
    }),
    layer('contracts', {
      may: [layers('domain'), packages('zod')],
      node: false,
      comment: 'What crosses a process is zod and the domain.',
    }),
    layer('domain', {
      may: [packages('decimal\\.js')],
      node: false,
      comment: 'Pure rules: no clock, random, I/O or `node:`; decimal.js is the one package.',
    }),
    layer('workflows', {
      may: [
        layers('domain'),
        '^dist/contracts/(messages|ids)\\.js$',
        packages('@temporalio/workflow', '@temporalio/common'),
      ],
      node: false,
      comment: 'A workflow sees domain, contracts/messages and contracts/ids; of the rest only types.',
    }),
    {
      name: 'workflows-reach',
      comment: 'Also through others nothing heavy or impure may come into the workflow bundle.',
      severity: 'error',
      from: { path: layers('workflows') },
      to: {
        path: [
          packages('zod', 'pg', 'hono', 'undici'),
          layers('activities', 'client', 'db', 'http', 'local', 'providers', 'telemetry'),
        ],
        reachable: true,
      },
    },
    layer('activities', {
      may: [
        layers('domain', 'contracts', 'db', 'providers', 'telemetry'),
        packages('@temporalio/activity', '@temporalio/common'),
      ],
      comment: 'An activity is one transaction, or one call, or a call then a transaction; a nudge is handed in.',
    }),
    layer('db', {
      may: [layers('domain', 'contracts'), packages('pg', 'node-pg-migrate')],
      comment: 'The database layer knows domain and contracts, not who calls it.',
    }),
    layer('providers', {
      may: [layers('domain', 'contracts'), PACKAGES],
      comment: 'A provider is called outside every transaction: it knows no database and no layer above.',
    }),
    {
      name: 'providers-no-database',
      comment: 'No provider speaks to PostgreSQL.',
      severity: 'error',
      from: { path: layers('providers') },
      to: { path: packages('pg', 'node-pg-migrate') },
    },
    {
      name: 'providers-are-strangers',
      comment: 'Each outside party stands alone; what two share lies beside their folders.',
      severity: 'error',
      from: { path: '^dist/providers/([^/]+)/' },
      to: { path: '^dist/providers/[^/]+/', pathNot: ['^dist/providers/$1/', KIT, KEYS] },
    },
    {
      name: 'simulators-know-money-alone',
      comment: 'A simulator is another party: domain/money, the kit and itself are all of ours that it knows.',
      severity: 'error',
      from: { path: `${SIMULATOR}|${KIT}` },
      to: { path: '^dist/', pathNot: [SIMULATOR, KIT, '^dist/domain/money\\.js$'] },
    },
    {
      name: 'simulators-stand-apart',
      comment: 'What the product does must not depend on a simulator.',
      severity: 'error',
      from: { path: '^dist/[^/]+/', pathNot: [SIMULATOR, KIT] },
      to: { path: `${SIMULATOR}|${KIT}` },
    },
    layer('client', {
      may: [
        layers('contracts'),
        packages('@temporalio/client', '@temporalio/common', '@temporalio/envconfig', '@temporalio/proto'),
      ],
      comment: 'A client starts and signals by contract; of workflows it sees types alone.',
    }),
    layer('http', {
      may: [
        layers('client', 'contracts', 'db', 'telemetry'),
        '^dist/providers/[^/]+/webhook\\.js$',
        `${KEYS}(key-provider|data-key|seal-bytes)\\.js$`,
        packages('hono', '@hono/[^/]+', 'zod', '@asteasolutions/zod-to-openapi', 'rate-limiter-flexible', 'uqr'),
        packages('openid-client', '@simplewebauthn/server'),
      ],
      comment:
        'An edge knows clients, contracts, what db reads, its edge functions, webhooks of providers, and how to seal.',
    }),
    layer('telemetry', {
      may: [PACKAGES],
      comment: 'Logs, traces and metrics know nothing of ours.',
    }),
    layer('local', {
      may: [PACKAGES],
      from: '^dist/local/(?!seed|migrate)',
      comment: 'The local runtime starts processes; it knows nothing of what they do.',
    }),
    layer('local-seed', {
      may: [layers('local', 'db', 'contracts', 'domain'), PACKAGES],
      from: '^dist/local/(seed|migrate)[^/]*\\.js$',
      comment: 'Of the local runtime only seed and migrate touch the database.',
    }),
    layer('cli', {
      may: [layers('client', 'contracts', 'db', 'domain', 'http', 'local', 'telemetry'), KEYS, PACKAGES],
      comment: 'The command line is an edge like http, and rotates keys; it calls no provider and runs no activity.',
    }),
    layer('demo', {
      may: [PACKAGES],
      comment: 'The story speaks HTTP like anybody else and imports nothing of ours.',
    }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      mainFields: ['module', 'main'],
    },
  },
};
