import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  signInAndAllow,
  type RegisteredClient,
} from '../../tools/flow.ts'
import { describeResult, send, type SendResult } from '../../tools/send.ts'
import type { Cluster } from './cluster.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'

/** A user who has signed in and consented to the client, so that further codes need no page. */
export interface User {
  /** Gets a new code. */
  readonly obtainCode: () => Promise<string>
  /** Gets a new code, or the answer that came instead. */
  readonly requestCode: () => Promise<{ readonly code: string | undefined; readonly result: SendResult }>
}

export async function openUser(cluster: Cluster, client: RegisteredClient): Promise<User> {
  const browser = new PlainBrowser(openRemoteServer(cluster))
  await signInAndAllow(browser, authorizeUrl(client))
  const path = authorizeUrl(client, { prompt: 'none' })
  const cookie = browser.cookieHeader
  const headers = { cookie, host: `127.0.0.1:${cluster.port}` }

  async function requestCode(): Promise<{ code: string | undefined; result: SendResult }> {
    const { port, agent, limitMs } = cluster
    const result = await send({ port, path, headers, agent, limitMs })
    const location = result.kind === 'response' ? result.headers['location'] : undefined
    if (typeof location !== 'string') return { code: undefined, result }
    return { code: new URL(location).searchParams.get('code') ?? undefined, result }
  }

  return {
    requestCode,
    async obtainCode() {
      const { code, result } = await requestCode()
      if (code === undefined) throw new Error(`Instead of a code there was ${describeResult(result)}`)
      return code
    },
  }
}

/** Takes the user through all pages on two nodes: the sign-in page on the first, the consent page on the second. Returns the code. */
export async function walk(
  cluster: Cluster,
  client: RegisteredClient,
  ports: readonly [number, number],
): Promise<string> {
  const remote = openRemoteServer(cluster)
  const browser = new PlainBrowser(remote)
  remote.port = ports[0]
  // The user has consented before, so the request must ask for consent again.
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent' }))))
  const signedIn = await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  remote.port = ports[1]
  const page = await browser.get(locationOf(signedIn))
  return codeIn(locationOf(await browser.submit(page, { decision: 'allow' })))
}

function codeIn(location: string): string {
  const code = new URL(location).searchParams.get('code')
  if (code === null) throw new Error(`There is no code in ${location}`)
  return code
}
