import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { broken, HELD, type Case } from '../case.ts'
import { describeAnswer } from '../http.ts'
import { hasTokens, NotApplicable } from '../issuer.ts'
import { thief } from './lost-answer.ts'

/** The issuer is killed after what is prepared. All cases share one kill; the last one has requests without an answer. */
export const CRASH_CASES: readonly Case[] = [
  {
    kind: 'killed',
    id: 'CRASH-01',
    title: 'After a kill, a registration, a grant and a rotation that were answered are in effect.',
    level: 'must',
    source: 'RFC 7591 §3.2.1, RFC 6749 §5.1',
    async prepare({ issuer }) {
      const used = await issuer.register('CRASH-01 a')
      const granted = await issuer.obtainTokens(used)
      const rotated = await issuer.rotate(used, (await issuer.obtainTokens(used)).refresh)
      const unused = await issuer.register('CRASH-01 b')
      return async () => {
        for (const [what, { refresh }] of Object.entries({ grant: granted, rotation: rotated })) {
          const answer = await issuer.http.send(issuer.rotation(used, refresh))
          if (!hasTokens(answer)) return broken(`The token of a ${what} was answered ${describeAnswer(answer)}`)
        }
        const answer = await issuer.http.send(issuer.redemption(unused, 'no-code'))
        if (answer.status === 401 || answer.members['error'] === 'invalid_client')
          return broken(`A registered client was answered ${describeAnswer(answer)}`)
        return HELD
      }
    },
  },
  {
    kind: 'killed',
    id: 'CRASH-02',
    title: 'After a kill, a redeemed code, a replaced and a revoked refresh token are still spent.',
    level: 'must',
    source: 'RFC 6749 §4.1.2, RFC 9700 §4.14.2, RFC 7009 §2.1',
    async prepare(target) {
      const { issuer, hasElsewhere, knowsCopiesByNetwork } = target
      const client = await issuer.register('CRASH-02')
      const code = await issuer.obtainCode(client)
      if (!hasTokens(await issuer.http.send(issuer.redemption(client, code)))) throw new Error('A code gave no tokens.')
      const revoked = (await issuer.obtainTokens(client)).refresh
      const isRevocable = issuer.metadata.revocation !== undefined
      if (isRevocable) await issuer.http.send(issuer.revocation(client, revoked))
      const replaced = (await issuer.obtainTokens(client)).refresh
      const second = (await issuer.rotate(client, replaced)).refresh
      await issuer.rotate(client, second)
      const isReplaced = second !== replaced && (hasElsewhere || !knowsCopiesByNetwork)
      return async () => {
        const spent = [
          { what: 'a redeemed code', sent: issuer.redemption(client, code) },
          ...(isRevocable ? [{ what: 'a revoked token', sent: issuer.rotation(client, revoked) }] : []),
          ...(isReplaced ? [{ what: 'a replaced token', sent: issuer.rotation(client, replaced, thief(target)) }] : []),
        ]
        for (const { what, sent } of spent)
          if (hasTokens(await issuer.http.send(sent))) return broken(`There were tokens for ${what}.`)
        return HELD
      }
    },
  },
  {
    kind: 'killed',
    id: 'CRASH-03',
    title: 'After a kill, access tokens from before are verified with the published keys.',
    level: 'should',
    source: 'RFC 9068 §4',
    async prepare({ issuer }) {
      const { keys } = issuer.metadata
      const { access } = await issuer.obtainTokens(await issuer.register('CRASH-03'))
      if (keys === undefined || access.split('.').length !== 3)
        throw new NotApplicable('The access tokens are opaque, or the issuer publishes no keys.')
      return async () => {
        const { members } = await issuer.http.send({ url: keys })
        if (!Array.isArray(members['keys'])) return broken('There are no keys.')
        const known = createLocalJWKSet(members as unknown as JSONWebKeySet)
        const isVerified = await jwtVerify(access, known).then(
          () => true,
          () => false,
        )
        return isVerified ? HELD : broken('A token from before cannot be verified.')
      }
    },
  },
  {
    kind: 'killed',
    id: 'CRASH-04',
    title: 'After a kill, a refresh that had no answer goes on with the same token.',
    level: 'should',
    source: 'RFC 9700 §4.14.2',
    async prepare({ issuer }) {
      const client = await issuer.register('CRASH-04')
      const lost = [
        issuer.rotation(client, (await issuer.obtainTokens(client)).refresh),
        issuer.rotation(client, (await issuer.obtainTokens(client)).refresh),
      ] as const
      await issuer.cut(lost[0], 'answered')
      await issuer.cut(lost[1], 'sent')
      return async () => {
        for (const sent of lost) {
          const answer = await issuer.http.send(sent)
          if (!hasTokens(answer)) return broken(`The second try was answered ${describeAnswer(answer)}`)
        }
        return HELD
      }
    },
  },
]
