import { broken, HELD, type Case, type Target, type Verdict } from '../case.ts'
import { AT_ONCE, describeAnswer } from '../http.ts'
import { hasTokens, NotApplicable, refreshTokenOf, type Client, type Issuer } from '../issuer.ts'

export const RACE_CASES: readonly Case[] = [
  {
    kind: 'running',
    id: 'RACE-01',
    title: `Of ${AT_ONCE} requests with one code at once, at most one gets tokens.`,
    level: 'must',
    source: 'RFC 6749 §4.1.2',
    async run({ issuer, rounds }) {
      const client = await issuer.register('RACE-01')
      return inRounds(rounds, async () => {
        const code = await issuer.obtainCode(client)
        const answers = await issuer.http.sendAtOnce(Array(AT_ONCE).fill(issuer.redemption(client, code)))
        const winners = answers.filter(hasTokens).length
        return winners <= 1 ? HELD : broken(`${winners} of ${AT_ONCE} requests got tokens.`)
      })
    },
  },
  {
    kind: 'running',
    id: 'RACE-02',
    title: `${AT_ONCE} refreshes with one token at once leave at most one line of refresh tokens.`,
    level: 'must',
    source: 'RFC 9700 §4.14.2',
    async run({ issuer, rounds }) {
      const client = await issuer.register('RACE-02')
      return inRounds(rounds, async () => {
        const { refresh } = await issuer.obtainTokens(client)
        const answers = await issuer.http.sendAtOnce(Array(AT_ONCE).fill(issuer.rotation(client, refresh)))
        const lines = await countLines(
          issuer,
          client,
          answers.filter(hasTokens).map((one) => refreshTokenOf(one) ?? refresh),
        )
        return lines <= 1 ? HELD : broken(`${lines} lines of refresh tokens go on beside each other.`)
      })
    },
  },
  {
    kind: 'running',
    id: 'RACE-03',
    title: 'A refresh that starts after the answer to a revocation gets nothing.',
    level: 'must',
    source: 'RFC 7009 §2.1',
    async run({ issuer, rounds }) {
      const client = await issuer.register('RACE-03')
      return inRounds(rounds, async () => {
        const { refresh } = await issuer.obtainTokens(client)
        const revoked = await issuer.http.send(issuer.revocation(client, refresh))
        if (revoked.status !== 200) throw new Error(`A revocation was answered ${describeAnswer(revoked)}`)
        return hasTokens(await issuer.http.send(issuer.rotation(client, refresh)))
          ? broken('A revoked refresh token gave tokens.')
          : HELD
      })
    },
  },
  {
    kind: 'running',
    id: 'RACE-04',
    title: 'A code that is redeemed again ends the tokens that it gave.',
    level: 'should',
    source: 'RFC 6749 §4.1.2',
    async run({ issuer }) {
      const client = await issuer.register('RACE-04')
      const code = await issuer.obtainCode(client)
      const first = await issuer.http.send(issuer.redemption(client, code))
      const refresh = hasTokens(first) ? refreshTokenOf(first) : undefined
      if (refresh === undefined) throw new NotApplicable('The issuer gave no refresh token.')
      await issuer.http.send(issuer.redemption(client, code))
      const after = await issuer.http.send(issuer.rotation(client, refresh))
      return hasTokens(after)
        ? broken('The refresh token of the first redemption gave tokens after the second one.')
        : HELD
    },
  },
  {
    kind: 'running',
    id: 'RACE-05',
    title: `Of ${AT_ONCE} equal registrations at once, each that succeeds is a client with a secret of its own.`,
    level: 'should',
    source: 'RFC 7591 §3.2.1',
    async run({ issuer }) {
      const answers = await issuer.http.sendAtOnce(Array(AT_ONCE).fill(issuer.registration('RACE-05')))
      const clients = answers.flatMap((one) => (one?.status === 201 ? issuer.keepClient(one) : []))
      if (clients.length < 2) throw new Error('Fewer than two of the registrations succeeded.')
      for (const client of clients) {
        const answer = await issuer.http.send(issuer.redemption(client, 'no-code'))
        if (isUnknownClient(answer)) return broken(`A registered client cannot authenticate: ${describeAnswer(answer)}`)
      }
      const secrets = clients.flatMap(({ secret }) => secret ?? [])
      return new Set(secrets).size === secrets.length ? HELD : broken('Two registrations got the same secret.')
    },
  },
  {
    kind: 'running',
    id: 'RACE-06',
    title: 'At two addresses at once, a code gives tokens once, and a revocation at one is known at the other.',
    level: 'must',
    source: 'RFC 6749 §4.1.2, RFC 7009 §2.1',
    run: raceAtTwoAddresses,
  },
]

async function raceAtTwoAddresses({ issuer, rounds, hasSecondAddress }: Target): Promise<Verdict> {
  if (!hasSecondAddress) throw new NotApplicable('It needs a second address of the issuer: --address.')
  const client = await issuer.register('RACE-06')
  return inRounds(rounds, async () => {
    const code = await issuer.obtainCode(client)
    const both = (['usual', 'second'] as const).map((from) => issuer.redemption(client, code, {}, from))
    if ((await issuer.http.sendAtOnce(both)).filter(hasTokens).length > 1)
      return broken('A code gave tokens at both addresses.')
    const { refresh } = await issuer.obtainTokens(client)
    await issuer.http.send(issuer.revocation(client, refresh, 'second'))
    const after = await issuer.http.send(issuer.rotation(client, refresh))
    return hasTokens(after) ? broken('A token that was revoked at one address gave tokens at the other.') : HELD
  })
}

/** How many of the tokens can be refreshed beside each other, twice, without becoming one line again. */
async function countLines(issuer: Issuer, client: Client, tokens: readonly string[]): Promise<number> {
  let lines = [...new Set(tokens)]
  for (let turn = 0; turn < 2 && lines.length > 1; turn += 1) {
    const next = new Set<string>()
    for (const token of lines) {
      const answer = await issuer.http.send(issuer.rotation(client, token))
      if (hasTokens(answer)) next.add(refreshTokenOf(answer) ?? token)
    }
    lines = [...next]
  }
  return lines.length
}

export function isUnknownClient({ status, members }: { readonly status: number; readonly members: object }): boolean {
  return status === 401 || ('error' in members && members.error === 'invalid_client')
}

async function inRounds(rounds: number, round: () => Promise<Verdict>): Promise<Verdict> {
  for (let count = 0; count < rounds; count += 1) {
    const verdict = await round()
    if (verdict.kind === 'broken') return verdict
  }
  return HELD
}
