import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  signInAndAllow,
  type RegisteredClient,
} from '../test/support/flow.ts'
import { describeReception, send, type Reception } from './send.ts'
import type { Stage } from './stage.ts'
import { openVisitor } from './visitor.ts'

/** A user who has signed in and consented to the client, so that further codes need no page. */
export interface Person {
  /** Gets a new code. */
  readonly obtainCode: () => Promise<string>
  /** Gets a new code, or the answer that came instead. */
  readonly askForCode: () => Promise<{ readonly code: string | undefined; readonly reception: Reception }>
}

export async function openPerson(stage: Stage, client: RegisteredClient): Promise<Person> {
  const browser = new PlainBrowser(openVisitor(stage))
  await signInAndAllow(browser, authorizeUrl(client))
  const path = authorizeUrl(client, { prompt: 'none' })
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, host: `127.0.0.1:${stage.port}` }

  async function askForCode(): Promise<{ code: string | undefined; reception: Reception }> {
    const { port, agent, limitMs } = stage
    const reception = await send({ port, method: 'GET', path, headers, agent, limitMs })
    const location = reception.kind === 'answer' ? reception.headers['location'] : undefined
    if (typeof location !== 'string') return { code: undefined, reception }
    return { code: new URL(location).searchParams.get('code') ?? undefined, reception }
  }

  return {
    askForCode,
    async obtainCode() {
      const { code, reception } = await askForCode()
      if (code === undefined) throw new Error(`Instead of a code there was ${describeReception(reception)}`)
      return code
    },
  }
}

/** Takes the user through all pages on two nodes: the sign-in page on the first, the consent page on the second. Returns the code. */
export async function walk(stage: Stage, client: RegisteredClient, ports: readonly [number, number]): Promise<string> {
  const visitor = openVisitor(stage)
  const browser = new PlainBrowser(visitor)
  visitor.port = ports[0]
  // The user has consented before, so the request must ask for consent again.
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent' }))))
  const signedIn = await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  visitor.port = ports[1]
  const page = await browser.get(locationOf(signedIn))
  return codeIn(locationOf(await browser.submit(page, { decision: 'allow' })))
}

function codeIn(location: string): string {
  const code = new URL(location).searchParams.get('code')
  if (code === null) throw new Error(`There is no code in ${location}`)
  return code
}
