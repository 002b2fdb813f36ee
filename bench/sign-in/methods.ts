import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { Agent } from 'node:http'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import { createUser } from '../../src/admin/user/user.ts'
import type { Context } from '../../src/ports/context.ts'
import { newUser } from '../../src/users/new-user.ts'
import { EMAIL, locationOf, PASSWORD, type PlainBrowser } from '../../tools/flow.ts'
import { leadsTo, pressProvider } from '../../tools/provider-page.ts'
import { receive } from '../../tools/send.ts'
import { addApp, type App } from '../../tools/sign-in/app.ts'
import { givePasskey, signedFields, passkeyFormOf } from '../../tools/sign-in/passkeys.ts'
import type { BenchProvider } from './provider.ts'

type Page = LightMyRequestResponse

/** Signs a person in, in a browser that is at the sign-in page. Returns the last answer, which starts the session. */
export type SignIn = (browser: PlainBrowser, page: Page, number: number) => Promise<Page>

/** The persons at the provider and at the application. Each has an account after the warm-up. */
const PERSONS = 50

export const signInByPassword: SignIn = (browser, page) => browser.submit(page, { email: EMAIL, password: PASSWORD })

/** A user who has a passkey alone. */
export async function signInByPasskey(context: Context): Promise<SignIn> {
  const { id: userId } = await createUser(context, { email: 'passkey@bench.test', password: undefined, name: 'Pat' })
  const { authenticator } = await givePasskey({ context }, userId)
  return (browser, page) => browser.post(passkeyFormOf(page).action, signedFields(page, { userId, authenticator }))
}

/** Each of so many sign-ins has a user of its own, because a code works once. They have one hash of one password. */
export async function signInByPasswordAndCode(context: Context, signIns: number): Promise<SignIn> {
  const users: { readonly email: string; readonly app: App }[] = []
  const passwordHash = await context.passwords.hash(PASSWORD, undefined)
  for (let number = 0; number < signIns; number += 1) {
    const email = normalizeEmail(`app-${number}@bench.test`)
    await context.store.createUser(
      newUser(context, context.clock(), { email, emailVerifiedAt: undefined, name: undefined, passwordHash }),
    )
    users.push({ email, app: await addApp({ context }, email) })
  }
  return async (browser, page) => {
    const { email, app } = users.pop() ?? fail('There are fewer users than sign-ins.')
    const second = await browser.submit(page, { email, password: PASSWORD })
    return browser.submit(second, { code: app.code() })
  }
}

export function signInAt(provider: BenchProvider, id: string): SignIn {
  return async (browser, page, number) => {
    const location = leadsTo(await pressProvider(browser, page, id))
    return browser.get(provider.approve(location, `person-${number % PERSONS}`))
  }
}

/** The page of the application is no part of it, only the answer that the application sends. */
export function signInAtApplication({ port, token, agent }: Application): SignIn {
  return async (browser, page, number) => {
    const interaction = new URL(locationOf(page)).searchParams.get('interaction') ?? ''
    const { status, body } = await receive({
      port,
      agent,
      path: `/admin/v1/interactions/${interaction}/accept`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: `person-${number % PERSONS}`, decision: 'ask' }),
    })
    if (status !== 200) throw new Error(`The application got ${status}: ${body}`)
    const { redirect_to: location } = JSON.parse(body) as { readonly redirect_to: string }
    return browser.get(location)
  }
}

/** How the application reaches the administration. */
export interface Application {
  readonly port: number
  readonly token: string
  readonly agent: Agent
}

function fail(message: string): never {
  throw new Error(message)
}
