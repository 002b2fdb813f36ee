import assert from 'node:assert/strict'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import {
  attribute,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  type RequestTarget,
} from '../../../tools/flow.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import type { SoftwareAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'

/** Signs in again with a passkey, as a browser does from the page that asks for it. */
export async function signInByPasskey(
  browser: PlainBrowser,
  userId: UserId,
  authenticator: SoftwareAuthenticator,
): Promise<void> {
  const page = await browser.get('/v2/oauth/sign-in?page=security')
  const answer = await browser.post(passkeyFormOf(page).action, signedFields(page, { userId, authenticator }))
  assert.equal(answer.statusCode, 303, answer.body)
}

/** A user at the account pages. */
export interface Owner {
  readonly browser: PlainBrowser
  /** The page at a path, or the one that it leads to, after signing in if that is needed. */
  readonly open: (path: string) => Promise<LightMyRequestResponse>
  /** Posts the form that has a field with this name, and for lists with this value, and follows the redirect. */
  readonly submit: (
    page: LightMyRequestResponse,
    field: string,
    fields?: Readonly<Record<string, string>>,
    value?: string,
  ) => Promise<LightMyRequestResponse>
  /** Follows the link of a list that asks before the one with this parameter, or its only one, is removed, and answers yes. */
  readonly remove: (
    page: LightMyRequestResponse,
    field: 'client' | 'organization' | 'identity',
    value?: string,
  ) => Promise<LightMyRequestResponse>
}

export function openOwner(server: RequestTarget, email = EMAIL, password = PASSWORD): Owner {
  const browser = new PlainBrowser(server)

  async function open(path: string): Promise<LightMyRequestResponse> {
    const page = await browser.get(path)
    if (page.statusCode !== 303) return page
    if (new URL(locationOf(page)).pathname.startsWith('/account')) return browser.get(locationOf(page))
    const signIn = await browser.get(locationOf(page))
    const signedIn = await browser.submit(signIn, { email, password })
    assert.equal(signedIn.statusCode, 303, signedIn.body)
    return open(locationOf(signedIn))
  }

  return {
    browser,
    open,
    async remove(page, field, value) {
      const link = removalsOf(page).find(
        ({ searchParams }) => searchParams.has(field) && (value === undefined || searchParams.get(field) === value),
      )
      assert.ok(link, `no link removes ${field}${value === undefined ? '' : ` = ${value}`}: ${page.body}`)
      const question = await browser.get(link.pathname + link.search)
      assert.equal(question.statusCode, 200, question.body)
      return this.submit(question, field)
    },
    async submit(page, field, fields = {}, value) {
      const form = formsOf(page).find(
        (one) => one.names.has(field) && (value === undefined || one.hidden[field] === value),
      )
      assert.ok(form, `no form has ${field}${value === undefined ? '' : ` = ${value}`}: ${page.body}`)
      const answer = await browser.post(form.action, { ...form.hidden, ...fields })
      return answer.statusCode === 303 ? browser.get(locationOf(answer)) : answer
    },
  }
}

/** The links of a list to the pages that ask before something is removed. */
export function removalsOf({ body }: Pick<LightMyRequestResponse, 'body'>): readonly URL[] {
  const addresses = [...body.matchAll(/href="([^"]*\/remove(?:-provider)?\?[^"]*)"/g)]
  return addresses.map(([, address = '']) => new URL(address.replaceAll('&amp;', '&')))
}

/** The forms of a page. */
export function formsOf(page: LightMyRequestResponse): readonly {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
  readonly names: ReadonlySet<string>
}[] {
  return (page.body.match(/<form[^]*?<\/form>/g) ?? []).map((body) => ({
    action: attribute(/<form[^>]*>/.exec(body)?.[0] ?? '', 'action'),
    hidden: hiddenFields({ body }),
    names: new Set((body.match(/<input[^>]*>/g) ?? []).map((input) => attribute(input, 'name'))),
  }))
}
