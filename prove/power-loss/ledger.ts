import {
  postForm,
  redeem,
  refresh,
  REDIRECT_URI,
  registerClient,
  silentCodes,
  type RegisteredClient,
  type RequestTarget,
  type Tokens,
} from '../../tools/flow.ts'

/** What a client knows of one thing that the server stores: the states that it asked for, one after the other. */
export interface Thing {
  readonly what: string
  readonly steps: Step[]
  /** Asks a server for the state. It may change what it asks for. */
  readonly observe: (server: RequestTarget, state: string) => Promise<string>
}

interface Step {
  readonly state: string
  readonly sentNs: bigint
  /** undefined: there was no answer. */
  ackNs: bigint | undefined
}

/** Says what is wrong with the thing at a server whose power was lost then; nothing if it has the last state that was acknowledged, or one that was asked for since. */
export async function faultOf(thing: Thing, server: RequestTarget, atNs: bigint): Promise<string | undefined> {
  const { steps, what, observe } = thing
  const sure = steps.findLastIndex(({ ackNs }) => ackNs !== undefined && ackNs <= atNs)
  const last = steps[sure]
  if (last === undefined) return undefined
  const allowed = steps.slice(sure).filter(({ sentNs }) => sentNs <= atNs)
  const seen = await observe(server, last.state)
  return allowed.some(({ state }) => state === seen)
    ? undefined
    : `${what} is ${seen}, and was acknowledged as ${last.state}`
}

/** Clients of a server, each of which does one thing after the other and notes the answers, until the load ends. */
export interface Load {
  readonly things: Thing[]
  readonly end: () => Promise<void>
}

const FAMILIES = 4
const CODES = 40
const REGISTRARS = 3

/** The user of tools/flow.ts exists. */
export async function openLoad(server: RequestTarget): Promise<Load> {
  const things: Thing[] = []
  const state = { isEnding: false }
  const client = await registerClient(server)
  const codes = [...(await silentCodes(server, client, FAMILIES + CODES))]
  const working = [
    ...Array.from({ length: FAMILIES }, () => refreshFamily(codes.pop() ?? '')),
    ...Array.from({ length: REGISTRARS }, registerClients),
    redeemCodes(),
  ]

  /** Takes a step. Returns undefined when the load has ended, or the server. */
  async function step<T>(thing: Thing, next: string, send: () => Promise<T>): Promise<T> {
    const one: Step = { state: next, sentNs: process.hrtime.bigint(), ackNs: undefined }
    thing.steps.push(one)
    const answer = await send()
    one.ackNs = process.hrtime.bigint()
    return answer
  }

  function begin(what: string, observe: Thing['observe']): Thing {
    const thing: Thing = { what, steps: [], observe }
    things.push(thing)
    return thing
  }

  /** A client registers, changes its name, and every other one deletes itself. */
  async function registerClients(): Promise<void> {
    for (let turn = 0; !state.isEnding; turn += 1) {
      let own: RegisteredClient | undefined
      const thing = begin('a client', (at) => (own === undefined ? Promise.resolve('Example') : nameOf(at, own)))
      const created = await step(thing, 'Example', () => registerClient(server))
      own = created
      await step(thing, 'Renamed', () =>
        manage(server, created, 'PUT', { ...editable(created), client_name: 'Renamed' }),
      )
      if (turn % 2 === 0) await step(thing, 'deleted', () => manage(server, created, 'DELETE'))
    }
  }

  /** A refresh token rotates; in the end it is revoked. */
  async function refreshFamily(code: string): Promise<void> {
    let token = (await redeem(server, client, code)).json<Tokens>().refresh_token ?? ''
    const tokens: string[] = []
    const thing = begin('a refresh token', async (at, known) => {
      const { statusCode } = await refresh(at, client, tokens[Number(known)] ?? tokens.at(-1) ?? '')
      return statusCode === 200 ? known : 'revoked'
    })
    for (let turn = 0; !state.isEnding; turn += 1) {
      const renewed = await step(thing, String(turn), () => refresh(server, client, token))
      token = renewed.json<Tokens>().refresh_token ?? ''
      tokens.push(token)
    }
    await step(thing, 'revoked', () => postForm(server, '/v2/oauth/revoke', { ...credentialsOf(client), token }))
  }

  /** Each code is redeemed once, a few in a second. */
  async function redeemCodes(): Promise<void> {
    for (let code = codes.pop(); code !== undefined && !state.isEnding; code = codes.pop()) {
      const own = code
      const thing = begin('a code', async (at) =>
        (await redeem(at, client, own)).statusCode === 200 ? 'fresh' : 'redeemed',
      )
      await step(thing, 'redeemed', () => redeem(server, client, own))
    }
  }

  return {
    things,
    async end() {
      state.isEnding = true
      await Promise.all(working)
    },
  }
}

function editable({ client_id, client_name, grant_types }: RegisteredClient): object {
  return { client_id, client_name, grant_types, redirect_uris: [REDIRECT_URI] }
}

/** RFC 7592 §2. */
async function manage(
  server: RequestTarget,
  client: RegisteredClient,
  method: 'GET' | 'PUT' | 'DELETE',
  body?: object,
): Promise<Awaited<ReturnType<RequestTarget['inject']>>> {
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const answer = await server.inject({
    method,
    url: `${pathname}${search}`,
    headers: {
      authorization: `Bearer ${String(client['registration_access_token'])}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  if (method !== 'GET' && answer.statusCode >= 300)
    throw new Error(`${method} is answered ${answer.statusCode} ${answer.body}`)
  return answer
}

async function nameOf(server: RequestTarget, client: RegisteredClient): Promise<string> {
  const answer = await manage(server, client, 'GET')
  if (answer.statusCode === 401) return 'deleted'
  return answer.json<{ readonly client_name?: string }>().client_name ?? `answered ${answer.statusCode}`
}

function credentialsOf({ client_id, client_secret = '' }: RegisteredClient): Record<string, string> {
  return { client_id, client_secret }
}
