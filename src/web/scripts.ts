import { createHash } from 'node:crypto'
import type { Page } from '../ports/pages/pages.ts'
import { copyScript } from './browser/copy.js'
import { passkeyScript } from './browser/passkey.js'
import { showPasswordScript } from './browser/show-password.js'
import { type Markup, scriptElement } from './markup.ts'

/** A script that pages have: its element, and the value for `script-src` (CSP Level 3 §2.3.1). It contains nothing of the request. */
interface PageScript {
  readonly element: Markup
  readonly cspSource: string
}

const FORM_POST = pageScript('document.forms[0].submit()')
/** Without what only the compiler and readers need. */
const PASSKEY = pageScript(
  `(${passkeyScript.toString()})()`.replaceAll(/\/\*\*.*?\*\/ ?/g, '').replaceAll(/\n\s*/g, '\n'),
)
const SHOW_PASSWORD = pageScript(`(${showPasswordScript.toString()})()`)
const COPY = pageScript(`(${copyScript.toString()})()`)

/** The scripts of a page, which the layout puts after its content. Each page works without them. */
export function scriptsOf(page: Page): readonly PageScript[] {
  switch (page.kind) {
    case 'form-post':
      return [FORM_POST]
    case 'sign-in':
      return page.offers.some(({ kind }) => kind === 'passkey') ? [SHOW_PASSWORD, PASSKEY] : [SHOW_PASSWORD]
    case 'second-step':
      return page.offers.some(({ kind }) => kind === 'set-up') ? [PASSKEY, COPY] : [PASSKEY]
    case 'recovery-codes':
    case 'account-set-up-app':
      return [COPY]
    case 'account-recovery-codes':
      return page.codes === undefined ? [] : [COPY]
    case 'account-add-passkey':
      return [PASSKEY]
    case 'account-security':
      return page.forgotten === undefined ? [] : [PASSKEY]
    case 'account-link':
      return [SHOW_PASSWORD, PASSKEY]
    case 'account-password':
      return [SHOW_PASSWORD]
    default:
      return []
  }
}

function pageScript(script: string): PageScript {
  return {
    element: scriptElement(script),
    cspSource: `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  }
}
