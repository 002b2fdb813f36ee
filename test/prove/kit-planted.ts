import { decodeJwt } from 'jose'
import type { Pass, Passed, Passing, Wrong } from './kit-proxy.ts'

/** For each case of grantor-prove a wrong that it alone finds: a good issuer behind a proxy that breaks one rule. */

const TOKEN = '/v2/oauth/token'
const REGISTER = '/v2/oauth/register'
const AUTHORIZE = '/v2/oauth/authorize'
const REGISTERED_URI = 'https://app.example/callback'

const json = (status: number, body: object): Passed => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const REFUSED = json(400, { error: 'invalid_grant' })
const membersOf = ({ body }: Passed): Readonly<Record<string, string>> =>
  body.startsWith('{') ? (JSON.parse(body) as Readonly<Record<string, string>>) : {}
const codeOf = ({ path, form }: Passing): string | undefined =>
  path === TOKEN ? (form.get('code') ?? undefined) : undefined
const refreshOf = ({ path, form }: Passing): string | undefined =>
  path === TOKEN ? (form.get('refresh_token') ?? undefined) : undefined
const isRegistration = ({ method, path }: Passing): boolean => method === 'POST' && path === REGISTER
const clientOf = ({ form }: Passing): string => form.get('client_id') ?? ''

export const PLANTED: Readonly<Record<string, () => Wrong>> = {
  'RACE-01': () => {
    const waiting = new Map<string, Promise<Passed>>()
    return { answer: (passing, pass) => sharedWhileWaiting(waiting, codeOf(passing), pass) }
  },
  'RACE-02': () => {
    const waiting = new Set<string>()
    let forks = 0
    return {
      async answer(passing, pass) {
        const token = refreshOf(passing)
        if (token === undefined) return pass()
        if (token.startsWith('fork') || waiting.has(token))
          return json(200, { access_token: 'forked', refresh_token: `fork-${(forks += 1)}` })
        waiting.add(token)
        const passed = await pass()
        waiting.delete(token)
        return passed
      },
    }
  },
  'RACE-03': () => {
    const late: Pass[] = []
    return {
      async answer(passing, pass) {
        if (passing.path === '/v2/oauth/revoke') {
          late.push(pass)
          return { status: 200, headers: {}, body: '' }
        }
        const passed = await pass()
        if (refreshOf(passing) !== undefined) for (const revoke of late.splice(0)) await revoke()
        return passed
      },
    }
  },
  'RACE-04': () => {
    const redeemed = new Set<string>()
    return {
      async answer(passing, pass) {
        const code = codeOf(passing)
        if (code === undefined) return pass()
        if (redeemed.has(code)) return REFUSED
        redeemed.add(code)
        return pass()
      },
    }
  },
  'RACE-05': () => ({
    async answer(passing, pass) {
      const passed = await pass()
      if (!isRegistration(passing) || !passing.body.includes('RACE-05')) return passed
      return json(201, { ...membersOf(passed), client_secret: 'the-same-for-all' })
    },
  }),
  // It is before the second address.
  'RACE-06': () => ({
    answer: async (passing, pass) =>
      passing.path === '/v2/oauth/revoke' ? { status: 200, headers: {}, body: '' } : pass(),
  }),
  'LOST-01': () => {
    const counts = new Map<string, number>()
    const ended = new Set<string>()
    return {
      async answer(passing, pass) {
        const code = codeOf(passing)
        if (refreshOf(passing) !== undefined && ended.has(clientOf(passing))) return REFUSED
        if (code === undefined) return pass()
        const count = (counts.get(code) ?? 0) + 1
        counts.set(code, count)
        if (count === 3) ended.add(clientOf(passing))
        return pass()
      },
    }
  },
  'LOST-02': () => {
    let last = ''
    return {
      async answer(passing, pass) {
        const token = refreshOf(passing)
        if (token === last) return REFUSED
        last = token ?? last
        return pass()
      },
      // After a restart it is forgotten: that would be CRASH-04's.
      restarted: () => (last = ''),
    }
  },
  'LOST-03': () => {
    const names = new Set<string>()
    return {
      async answer(passing, pass) {
        const name = isRegistration(passing) ? (JSON.parse(passing.body) as { client_name: string }).client_name : ''
        // That equal ones at once become one is RACE-05's.
        if (name.includes('RACE-05') || name === '') return pass()
        if (names.has(name)) return json(503, {})
        names.add(name)
        return pass()
      },
    }
  },
  'LOST-04': () => {
    const successors = new Map<string, string>()
    return {
      async answer(passing, pass) {
        const token = refreshOf(passing)
        const successor = token === undefined ? undefined : successors.get(token)
        if (successor !== undefined && successors.has(successor))
          return json(200, { access_token: 'a', refresh_token: 'b' })
        const passed = await pass()
        const next = membersOf(passed)['refresh_token']
        if (token !== undefined && next !== undefined) successors.set(token, next)
        return passed
      },
      restarted: () => successors.clear(),
    }
  },
  'CLIENT-01': () => redirecting((uri) => uri.protocol === 'https:' && uri.href !== REGISTERED_URI),
  'CLIENT-02': () => redirecting((uri) => uri.protocol !== 'https:'),
  'CLIENT-03': () => ({
    async answer(passing, pass) {
      const passed = await pass()
      const chosen = isRegistration(passing)
        ? (JSON.parse(passing.body) as { client_id?: string }).client_id
        : undefined
      return chosen === undefined ? passed : json(201, { ...membersOf(passed), client_id: chosen })
    },
  }),
  'CLIENT-04': () => {
    const tokens = new Map<string, string>()
    return {
      async answer(passing, pass) {
        const token = tokens.get(passing.query.get('client_id') ?? '')
        const passed = await (passing.method === 'GET' && passing.path === REGISTER && token !== undefined
          ? pass({ headers: { ...passing.headers, authorization: `Bearer ${token}` } })
          : pass())
        const { client_id: id, registration_access_token: own } = membersOf(passed)
        if (isRegistration(passing) && id !== undefined && own !== undefined) tokens.set(id, own)
        return passed
      },
    }
  },
  'TOKEN-01': () => {
    const secrets = new Map<string, string>()
    let last = ''
    return {
      async answer(passing, pass) {
        if (passing.path === AUTHORIZE) last = passing.query.get('client_id') ?? last
        const isOther = codeOf(passing) !== undefined && secrets.has(last) && clientOf(passing) !== last
        const form = new URLSearchParams(passing.form)
        form.set('client_id', last)
        form.set('client_secret', secrets.get(last) ?? '')
        const passed = await (isOther && form.get('code') !== 'no-code' ? pass({ body: form.toString() }) : pass())
        const { client_id: id, client_secret: secret } = membersOf(passed)
        if (isRegistration(passing) && id !== undefined && secret !== undefined) secrets.set(id, secret)
        return passed
      },
    }
  },
  'TOKEN-02': () => ({
    async answer(passing, pass) {
      const resource = passing.form.get('resource')
      if (resource === null) return pass()
      const form = new URLSearchParams(passing.form)
      form.delete('resource')
      const { access_token: token = '', ...others } = membersOf(await pass({ body: form.toString() }))
      const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), aud: resource })).toString('base64url')
      return json(200, { ...others, access_token: token.replace(/\..*\./, `.${claims}.`) })
    },
  }),
  'CRASH-01': () => {
    const unused = new Set<string>()
    let forgotten: ReadonlySet<string> = new Set()
    return {
      async answer(passing, pass) {
        if (passing.path === TOKEN && forgotten.has(clientOf(passing))) return json(401, { error: 'invalid_client' })
        const passed = await pass()
        const { client_id: id } = membersOf(passed)
        if (isRegistration(passing) && id !== undefined) unused.add(id)
        unused.delete(passing.query.get('client_id') ?? '')
        return passed
      },
      restarted: () => (forgotten = new Set(unused)),
    }
  },
  'CRASH-02': () => {
    const answers = new Map<string, Passed>()
    let isAfter = false
    return {
      async answer(passing, pass) {
        const code = codeOf(passing)
        const former = isAfter && code !== undefined ? answers.get(code) : undefined
        if (former !== undefined) return former
        const passed = await pass()
        if (code !== undefined && passed.status === 200) answers.set(code, passed)
        return passed
      },
      restarted: () => (isAfter = true),
    }
  },
  'CRASH-03': () => {
    let isAfter = false
    return {
      answer: async (passing, pass) =>
        isAfter && passing.path === '/v2/oauth/jwks' ? json(200, { keys: [] }) : pass(),
      restarted: () => (isAfter = true),
    }
  },
  'CRASH-04': () => {
    const presented = new Set<string>()
    let spent: ReadonlySet<string> = new Set()
    return {
      async answer(passing, pass) {
        const token = refreshOf(passing)
        if (token !== undefined && spent.has(token)) return REFUSED
        if (token !== undefined) presented.add(token)
        return pass()
      },
      restarted: () => (spent = new Set(presented)),
    }
  },
}

/** Equal requests get the answer to the first one while it is made. */
function sharedWhileWaiting(
  waiting: Map<string, Promise<Passed>>,
  code: string | undefined,
  pass: Pass,
): Promise<Passed> {
  if (code === undefined) return pass()
  const first = waiting.get(code)
  if (first !== undefined) return first
  const answer = pass().finally(() => waiting.delete(code))
  waiting.set(code, answer)
  return answer
}

/** Sends a browser to the redirect URIs of requests that fit. */
function redirecting(fits: (uri: URL) => boolean): Wrong {
  return {
    async answer({ path, query }, pass) {
      const uri = new URL(query.get('redirect_uri') ?? REGISTERED_URI)
      if (path !== AUTHORIZE || !fits(uri)) return pass()
      return { status: 302, headers: { location: `${uri.href}?error=access_denied` }, body: '' }
    },
  }
}
