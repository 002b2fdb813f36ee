import { broken, HELD, type Case, type Target, type Verdict } from '../case.ts'
import { describeAnswer } from '../http.ts'
import { NotApplicable, REDIRECT_URI } from '../issuer.ts'
import { isUnknownClient } from './race.ts'

export const CLIENT_CASES: readonly Case[] = [
  {
    kind: 'running',
    id: 'CLIENT-01',
    title: 'A browser is not sent to a redirect URI with another path than the registered one.',
    level: 'must',
    source: 'RFC 9700 §2.1',
    run: (target) =>
      refusesRedirects(target, 'CLIENT-01', [`${REDIRECT_URI}/other`, `${REDIRECT_URI}/../other`, `${REDIRECT_URI}x`]),
  },
  {
    kind: 'running',
    id: 'CLIENT-02',
    title: 'A browser is not sent to a redirect URI with another scheme than the registered one.',
    level: 'must',
    source: 'RFC 9700 §2.1',
    run: (target) =>
      refusesRedirects(target, 'CLIENT-02', [
        REDIRECT_URI.replace('https:', 'http:'),
        REDIRECT_URI.replace('https:', 'example-app:'),
      ]),
  },
  {
    kind: 'running',
    id: 'CLIENT-03',
    title: 'A registration that names the id of another client does not get it.',
    level: 'must',
    source: 'RFC 7591 §3.2.1',
    async run({ issuer }) {
      const first = await issuer.register('CLIENT-03')
      const answer = await issuer.http.send(issuer.registration('CLIENT-03 chosen', { client_id: first.id }))
      if (answer.members['client_id'] === first.id)
        return broken('The second registration has the id of the first one.')
      if (answer.status === 201) issuer.keepClient(answer)
      const used = await issuer.http.send(issuer.redemption(first, 'no-code'))
      return isUnknownClient(used) ? broken(`The first client cannot authenticate: ${describeAnswer(used)}`) : HELD
    },
  },
  {
    kind: 'running',
    id: 'CLIENT-04',
    title: 'The registration access token of one client neither reads, changes nor deletes another client.',
    level: 'must',
    source: 'RFC 7592 §3',
    async run({ issuer }) {
      const [first, second] = [await issuer.register('CLIENT-04 a'), await issuer.register('CLIENT-04 b')]
      if (first.management === undefined || second.management === undefined)
        throw new NotApplicable('The issuer offers no management of registrations.')
      const { url } = first.management
      const headers = { authorization: `Bearer ${second.management.token}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ client_id: first.id, client_name: 'changed', redirect_uris: [REDIRECT_URI] })
      for (const one of [{ method: 'GET' }, { method: 'PUT', body }, { method: 'DELETE' }] as const) {
        const answer = await issuer.http.send({ url, headers, ...one })
        if (answer.status < 300) return broken(`${one.method} was answered ${answer.status}`)
      }
      const used = await issuer.http.send(issuer.redemption(first, 'no-code'))
      return isUnknownClient(used) ? broken('The client cannot authenticate after that.') : HELD
    },
  },
]

async function refusesRedirects({ issuer }: Target, name: string, others: readonly string[]): Promise<Verdict> {
  const client = await issuer.register(name)
  for (const other of others) {
    const back = await issuer.follow(issuer.authorizationLink(client, { redirect_uri: other }))
    const { protocol, host, pathname } = new URL(other)
    // Pages of the issuer may be at another address.
    if (back?.protocol === protocol && back.host === host && back.pathname === pathname)
      return broken(`An authorization request with ${other} sent the browser there.`)
  }
  // That says something only if the same person comes back with the registered one. An issuer may look at it after the sign-in.
  await issuer.obtainCode(client)
  return HELD
}
