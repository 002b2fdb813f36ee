import { createHash } from 'node:crypto'
import type { Language } from '../base/language.ts'
import type { Branding, ErrorPage, Page, Picture } from '../ports/pages/pages.ts'
import { dataPage, overviewPage } from './account/account.ts'
import { appsPage, removeAppPage } from './account/apps.ts'
import { changeEmailPage, confirmEmailPage } from './account/email.ts'
import { confirmPage } from './account/frame.ts'
import { linkMethodsPage, linkPage, linkUsedPage } from './account/link.ts'
import { passwordPage, removePasswordPage } from './account/password.ts'
import { addPasskeyPage, removePasskeyPage } from './account/passkeys.ts'
import { addProviderPage, removeProviderPage } from './account/providers.ts'
import { securityPage } from './account/security.ts'
import { sessionsPage } from './account/sessions.ts'
import { ownRecoveryCodesPage, removeTwoStepPage, setUpAppPage } from './account/two-step.ts'
import { consentPage } from './consent.ts'
import { deviceCodePage, deviceEndPage } from './device.ts'
import { forgotDonePage, forgotPage } from './forgot.ts'
import { formPostPage } from './form-post.ts'
import { languageLinks, type LanguageLinks, type View } from './layout.ts'
import { href, LANGUAGE_LINKS, type Markup, styleElement } from './markup.ts'
import { errorPage, REQUEST_ID, signedOutPage, signOutPage } from './message.ts'
import { nameOf, pictureOf } from './pictures.ts'
import { returnPage } from './return.ts'
import { scriptsOf } from './scripts.ts'
import { recoveryCodesPage } from './second-factor.ts'
import { secondStepPage } from './second-step.ts'
import { leavePage, signInPage } from './sign-in.ts'
import { stylesheet } from './stylesheet.ts'
import { openTranslations } from './texts.ts'

/** Renders page models as documents. */
export interface Renderer {
  /**
   * Renders a whole HTML document. It loads nothing from the network, and works without scripts. An error
   * page shows the id of the request. `links`: what links to the same page in other languages need; undefined: it has none.
   */
  readonly render: (page: Page, language: Language, requestId?: string, links?: LanguageLinks) => string
  /** The value for `style-src` (CSP Level 3 §2.3.1): the hash of the documents' only style element. */
  readonly styleSource: string
  /** The value for `script-src` of a page: the hashes of its scripts; undefined for a page without one. */
  readonly scriptSource: (page: Page) => string | undefined
  /** The picture of the operator, and its name. */
  readonly picture: Picture
  readonly pictureName: string
}

/** Prepares what all pages of a server share. `picturePath`: before the names of pictures. Throws when the branding cannot be shown. */
export function createRenderer(branding: Branding, picturePath: string): Renderer {
  const picture = pictureOf(branding)
  const pictureName = nameOf(picture)
  const sheet = stylesheet(branding.accent)
  for (const uri of [branding.contact, branding.termsUri, branding.privacyUri]) if (uri !== undefined) href(uri)
  const shared = {
    branding,
    styleElement: styleElement(sheet),
    picturePath: picturePath + pictureName,
  }
  const translations = openTranslations(branding.texts)
  const viewOf = (language: Language) => ({ ...shared, language, texts: translations[language] })
  const draw = (page: Page, language: Language): string =>
    template({ ...viewOf(language), scripts: scriptsOf(page) }, page).toString()
  /** An error page that is the same object for many requests is rendered once for each language. */
  const errorPages = new WeakMap<ErrorPage, Map<Language, string>>()
  const drawOnce = (page: ErrorPage, language: Language): string => {
    const drawn = errorPages.get(page) ?? new Map<Language, string>()
    errorPages.set(page, drawn)
    const text = drawn.get(language) ?? draw(page, language)
    drawn.set(language, text)
    return text
  }
  return {
    render(page, language, requestId = '', links) {
      const text =
        page.kind === 'error' ? drawOnce(page, language).replace(REQUEST_ID, requestId) : draw(page, language)
      const markup = links === undefined ? '' : languageLinks(viewOf(language), links).toString()
      return text.replace(LANGUAGE_LINKS.toString(), () => markup)
    },
    scriptSource(page) {
      const scripts = scriptsOf(page)
      return scripts.length === 0 ? undefined : scripts.map(({ cspSource }) => cspSource).join(' ')
    },
    picture,
    pictureName,
    styleSource: `'sha256-${createHash('sha256').update(sheet).digest('base64')}'`,
  }
}

const TEMPLATES: { readonly [Kind in Page['kind']]: (view: View, page: Extract<Page, { kind: Kind }>) => Markup } = {
  'sign-in': signInPage,
  forgot: forgotPage,
  'forgot-done': forgotDonePage,
  'second-step': secondStepPage,
  'recovery-codes': recoveryCodesPage,
  leave: leavePage,
  consent: consentPage,
  'device-code': deviceCodePage,
  'device-end': deviceEndPage,
  return: returnPage,
  'form-post': formPostPage,
  error: errorPage,
  'sign-out': signOutPage,
  'signed-out': signedOutPage,
  'account-confirm': confirmPage,
  'account-overview': overviewPage,
  'account-change-email': changeEmailPage,
  'account-confirm-email': confirmEmailPage,
  'account-apps': appsPage,
  'account-remove-app': removeAppPage,
  'account-sessions': sessionsPage,
  'account-security': securityPage,
  'account-password': passwordPage,
  'account-add-passkey': addPasskeyPage,
  'account-remove-passkey': removePasskeyPage,
  'account-remove-password': removePasswordPage,
  'account-add-provider': addProviderPage,
  'account-remove-provider': removeProviderPage,
  'account-set-up-app': setUpAppPage,
  'account-recovery-codes': ownRecoveryCodesPage,
  'account-remove-two-step': removeTwoStepPage,
  'account-data': dataPage,
  'account-link-methods': linkMethodsPage,
  'account-link': linkPage,
  'account-link-used': linkUsedPage,
}

function template(view: View, page: Page): Markup {
  return (TEMPLATES[page.kind] as (view: View, page: Page) => Markup)(view, page)
}
