import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  redeem,
  registerClient,
  type RegisteredClient,
  type RequestTarget,
} from '../../tools/flow.ts'

/** An application that signs users in for Grantor, as the walk meets it. */
export interface WalkedApplication {
  readonly grantor: RequestTarget
  /** The page of the application, which is GRANTOR_DELEGATE_URL. */
  readonly page: string
  /** The password of the user `ada`, by HTTP Basic. */
  readonly password: string
  /** Returns how an interaction was answered. null: it was not. */
  readonly findAnswer: (interaction: string) => Promise<string | null>
}

const CLIENT_NAME = 'Claude <b>& "friends"'
const SCOPE = 'projects:read'

/** Uses the page as a person and as an attacker does. Returns what the application does wrong. */
export async function walkApplication(application: WalkedApplication): Promise<readonly string[]> {
  const faults: string[] = []
  const expect = (isRight: boolean, fault: string): void => void (isRight || faults.push(fault))
  const { grantor, findAnswer } = application
  const client = await registerClient(grantor, { client_name: CLIENT_NAME })

  const first = await leave(application, client)
  const stranger = await fetch(first.address)
  expect(stranger.status === 401, `a person who is not signed in gets ${stranger.status}`)
  const shown = await first.show()
  for (const text of ['Ada Lovelace', 'Claude &', SCOPE, 'app.example', 'Unverified'])
    expect(shown.text.includes(text), `the page does not show ${text}`)
  expect(!shown.text.includes('<b>'), 'the name of the client is not escaped')
  expect(shown.policy.includes("frame-ancestors 'none'"), 'other sites can show the page in a frame')
  await first.show()
  expect((await findAnswer(first.interaction)) === null, 'a GET answers the interaction')

  const other = await (await leave(application, client)).show()
  for (const csrf of ['', 'x', other.csrf]) {
    const { status } = await first.decide('allow', csrf)
    expect(status >= 400, `a form with a wrong CSRF token gets ${status}`)
  }
  expect((await findAnswer(first.interaction)) === null, 'a form with a wrong CSRF token answers the interaction')

  const denied = await first.finish('deny', shown.csrf)
  expect(denied.searchParams.get('error') === 'access_denied', `Deny leads to ${denied.search}`)
  const second = await leave(application, client)
  const allowed = await second.finish('allow', (await second.show()).csrf)
  const tokens = await redeem(grantor, client, allowed.searchParams.get('code') ?? '')
  expect(tokens.statusCode === 200, `Allow leads to ${allowed.search}, and the code to ${tokens.body}`)
  return faults
}

/** A browser that Grantor has redirected to the application. */
async function leave({ grantor, page, password }: WalkedApplication, client: RegisteredClient) {
  const browser = new PlainBrowser(grantor)
  let address = authorizeUrl(client, { scope: SCOPE })
  while (!address.startsWith(page)) address = locationOf(await browser.get(address))
  const interaction = new URL(address).searchParams.get('interaction') ?? ''
  const headers = { authorization: `Basic ${btoa(`ada:${password}`)}` }
  const decide = (decision: string, csrf: string): Promise<Response> => {
    const body = new URLSearchParams({ interaction, decision, csrf })
    return fetch(page, { method: 'POST', body, headers, redirect: 'manual' })
  }
  return {
    address,
    interaction,
    decide,
    async show() {
      const answer = await fetch(address, { headers })
      const text = await answer.text()
      const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
      return { text, csrf, policy: answer.headers.get('content-security-policy') ?? '' }
    },
    /** Returns where the client gets the response. */
    async finish(decision: string, csrf: string) {
      const answer = await decide(decision, csrf)
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`${decision} gets ${answer.status}: ${await answer.text()}`)
      const back = await browser.get(location)
      return new URL(locationOf(back))
    },
  }
}
