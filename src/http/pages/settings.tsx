import type { PageCall, PagesDeps } from './call.js';
import { setCookie } from './cookies.js';
import { homeOf } from './navigation.js';
import { PageError } from './page-error.js';
import type { PageRoute } from './page-route.js';
import { SelectField } from './parts/field.js';
import { Form } from './parts/form.js';
import { Notice } from './parts/notice.js';
import { redirect, respond } from './respond.js';
import { isZone, oneOf, THEMES, VIEW_COOKIE, VIEW_COOKIE_SECONDS, writeChosen } from './view.js';
import { LANGS } from './words.js';

/** Each language by its own name. */
const LANG_NAMES = { en: 'English', ru: 'Русский' } as const;

/** Language, theme and zone of this browser: for anyone, also before signing in. */
export function settingsRoutes<Deps extends PagesDeps>(audience: Deps['audience']): readonly PageRoute<Deps>[] {
  const row = { path: `${homeOf(audience)}/settings`, roles: 'anyone', names: null } as const;
  return [
    { ...row, method: 'GET', handler: settingsPage },
    { ...row, method: 'POST', handler: saveSettings },
  ];
}

async function settingsPage<Deps extends PagesDeps>(call: PageCall<Deps>): Promise<Response> {
  const { view, session, deps, query } = call;
  const title = view.t('settings');
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
  return respond(
    call,
    { title },
    <>
      <h1>{title}</h1>
      {query.has('saved') ? <Notice tone="ok">{view.t('settings_saved')}</Notice> : null}
      <Form action={`${homeOf(deps.audience)}/settings`} csrf={session?.csrf ?? null}>
        <SelectField
          id="lang"
          label={view.t('settings_lang')}
          value={view.lang}
          options={LANGS.map((value) => ({ value, label: LANG_NAMES[value] }))}
        />
        <SelectField
          id="theme"
          label={view.t('settings_theme')}
          value={view.theme}
          options={THEMES.map((value) => ({ value, label: view.t(`theme_${value}`) }))}
        />
        <SelectField
          id="zone"
          label={view.t('settings_zone')}
          hint={view.t('settings_zone_hint')}
          value={view.zone}
          options={zones.map((value) => ({ value, label: value }))}
        />
        <div class="form-end">
          <button type="submit" class="btn btn--main">
            {view.t('settings_save')}
          </button>
        </div>
      </Form>
    </>,
  );
}

async function saveSettings<Deps extends PagesDeps>(call: PageCall<Deps>): Promise<Response> {
  const { form, view, deps } = call;
  const [lang, theme] = [oneOf(LANGS, form.text('lang')), oneOf(THEMES, form.text('theme'))];
  const zone = form.text('zone');
  if (lang === null || theme === null || !isZone(zone)) throw new PageError(422);
  const text = writeChosen({ lang, theme, zone, book: view.book });
  return redirect(`${homeOf(deps.audience)}/settings?saved`, [setCookie(VIEW_COOKIE, text, VIEW_COOKIE_SECONDS)]);
}
