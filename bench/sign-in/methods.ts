import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { Agent } from 'node:http'
import { EMAIL, locationOf, PASSWORD, type PlainBrowser } from '../../tools/flow.ts'
import { leadsTo, pressProvider } from '../../tools/provider-page.ts'
import { receive } from '../../tools/send.ts'
import type { BenchProvider } from './provider.ts'

type Page = LightMyRequestResponse

/** Signs a person in, in a browser that is at the sign-in page. Returns the last answer, which starts the session. */
export type SignIn = (browser: PlainBrowser, page: Page, number: number) => Promise<Page>

/** The persons at the provider and at the application. Each has an account after the warm-up. */
const PERSONS = 50

export const signInByPassword: SignIn = (browser, page) => browser.submit(page, { email: EMAIL, password: PASSWORD })

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
