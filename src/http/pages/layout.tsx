import type { Child } from 'hono/jsx';
import type { Session } from '../../db/sessions.js';
import { assetPath } from './assets.js';
import type { Audience } from './call.js';
import { CABINET_NAV, homeOf, type NavSection, OPERATOR_NAV } from './navigation.js';
import { Brand, Icon, Sprite } from './parts/icon.js';
import type { View } from './view.js';

interface LayoutProps {
  readonly view: View;
  readonly title: string;
  readonly path: string;
  readonly children?: Child;
}

/** The operator console: search on top, its sections at the side. */
export function OperatorLayout({ session, ...of }: LayoutProps & { session: Session }) {
  const { view, path, children } = of;
  return (
    <Document {...of} home="/operator" bodyClass="app">
      <header class="top">
        <Brand href="/operator" name="Sverka" place={view.t('operator')} />
        <a class="btn menu-link" href="#nav">
          <Icon name="menu" />
          {view.t('menu')}
        </a>
        <form class="find" role="search" action="/operator/search" method="get">
          <label class="vh" for="q">
            {view.t('search_everything')}
          </label>
          <input id="q" name="q" type="search" placeholder={view.t('search_hint')} autocomplete="off" maxlength={200} />
          <button type="submit" aria-label={view.t('search')}>
            <Icon name="search" />
          </button>
        </form>
        <TopEnd view={view} session={session} home="/operator" />
      </header>
      <nav class="side" id="nav" aria-label={view.t('main_nav')}>
        <a class="side-close" href="#main">
          {view.t('close_menu')}
        </a>
        {OPERATOR_NAV.map((section) => (
          <SideSection view={view} section={section} path={path} roles={session.roles} />
        ))}
        <p class="side-foot">
          {view.t('times_are', { zone: view.zone })}
          <br />
          <a href="/operator/settings">{view.t('change')}</a>
        </p>
      </nav>
      {view.book === 'test' ? <div class="band-test" /> : null}
      <main id="main" tabindex={-1}>
        {children}
      </main>
    </Document>
  );
}

/** The merchant's cabinet: its sections in one row. */
export function CabinetLayout({ session, ...of }: LayoutProps & { session: Session }) {
  const { view, path, children } = of;
  return (
    <Document {...of} home="/cabinet" bodyClass="app app--cabinet">
      <header class="top">
        <Brand href="/cabinet" name={session.merchantName ?? 'Sverka'} place={view.t('merchant_cabinet')} />
        <TopEnd view={view} session={session} home="/cabinet" />
      </header>
      <nav class="cab-nav" aria-label={view.t('main_nav')}>
        <ul>
          {CABINET_NAV.map(({ href, word }) => (
            <li>
              <a href={href} aria-current={isHere(path, href) ? 'page' : undefined}>
                {view.t(word)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {view.book === 'test' ? <div class="band-test" /> : null}
      <main id="main" tabindex={-1}>
        {children}
      </main>
      <footer class="foot">
        {view.t('times_are', { zone: view.zone })} <a href="/cabinet/settings">{view.t('change')}</a>
      </footer>
    </Document>
  );
}

/** Before anybody has signed in. */
export function AuthLayout({ audience, ...of }: LayoutProps & { audience: Audience }) {
  const { view, children } = of;
  const home = homeOf(audience);
  const place = audience === 'console' ? 'operator_console' : 'merchant_cabinet';
  return (
    <Document {...of} home={home} bodyClass="auth">
      <main id="main">
        <Brand href={home} name="Sverka" place={view.t(place)} />
        <div class="panel">{children}</div>
        <p class="foot">
          <a href={`${home}/settings`}>{view.t('settings')}</a>
        </p>
      </main>
    </Document>
  );
}

function Document(of: LayoutProps & { home: string; bodyClass: string }) {
  const { view, title, home, bodyClass, children } = of;
  return (
    <html lang={view.lang} data-theme={view.theme === 'system' ? undefined : view.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={view.theme === 'system' ? 'light dark' : view.theme} />
        <title>{`${title} · Sverka`}</title>
        <link rel="stylesheet" href={assetPath(home, 'console.css')} />
        <link rel="icon" href={assetPath(home, 'icon.svg')} type="image/svg+xml" />
      </head>
      <body class={bodyClass}>
        <Sprite />
        {bodyClass === 'auth' ? null : (
          <a class="skip" href="#main">
            {view.t('skip')}
          </a>
        )}
        {children}
      </body>
    </html>
  );
}

function TopEnd({ view, session, home }: { view: View; session: Session; home: string }) {
  const roles = session.roles.map((role) => view.named('role', role)).join(', ');
  return (
    <div class="top-end">
      <nav class="seg" aria-label={view.t('book')}>
        <a href={`${home}?book=live`} aria-current={view.book === 'live' ? 'true' : undefined}>
          {view.t('book_live')}
        </a>
        <a href={`${home}?book=test`} aria-current={view.book === 'test' ? 'true' : undefined}>
          <Icon name="test" />
          {view.t('book_test')}
        </a>
      </nav>
      <details class="drop">
        <summary aria-label={view.t('account', { login: session.login, role: roles })}>
          <span class="avatar" aria-hidden="true">
            {session.login.slice(0, 2).toUpperCase()}
          </span>
        </summary>
        <div class="drop-body">
          <div>
            <strong>{session.login}</strong>
            <br />
            <span class="muted">{roles}</span>
          </div>
          <a href={`${home}/settings`}>{view.t('settings')}</a>
          <form method="post" action={`${home}/sign-out`}>
            <input type="hidden" name="csrf" value={session.csrf} />
            <button type="submit" class="btn">
              {view.t('sign_out')}
            </button>
          </form>
        </div>
      </details>
    </div>
  );
}

function SideSection(of: { view: View; section: NavSection; path: string; roles: readonly string[] }) {
  const { view, section, path, roles } = of;
  const links = section.links.filter((link) => link.roles === undefined || link.roles.some((r) => roles.includes(r)));
  if (links.length === 0) return null;
  return (
    <div>
      {section.title === null ? null : <h2>{view.t(section.title)}</h2>}
      <ul>
        {links.map(({ href, word }) => (
          <li>
            <a href={href} aria-current={isHere(path, href) ? 'page' : undefined}>
              {view.t(word)}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function isHere(path: string, href: string): boolean {
  const [to = href] = href.split('?');
  return path === to || (to.split('/').length > 2 && path.startsWith(`${to}/`));
}
