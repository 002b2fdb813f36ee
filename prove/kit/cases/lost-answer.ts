import { broken, HELD, type Case, type Target } from '../case.ts'
import { describeAnswer, type Moment, type Way } from '../http.ts'
import { hasTokens, NotApplicable } from '../issuer.ts'

const MOMENTS: readonly Moment[] = ['sent', 'answered']

/** The answer is lost: the connection is cut after the request. */
export const LOST_ANSWER_CASES: readonly Case[] = [
  {
    kind: 'running',
    id: 'LOST-01',
    title: 'After the answer to a code was lost, a new code gives tokens, and the old one does not end them.',
    level: 'should',
    source: 'RFC 6749 §4.1.2',
    async run({ issuer }) {
      const client = await issuer.register('LOST-01')
      for (const moment of MOMENTS) {
        const lost = issuer.redemption(client, await issuer.obtainCode(client))
        await issuer.cut(lost, moment)
        await issuer.http.send(lost)
        const second = await issuer.http.send(issuer.redemption(client, await issuer.obtainCode(client)))
        if (!hasTokens(second)) return broken(`The new code was answered ${describeAnswer(second)}`)
        const refresh = second.members['refresh_token']
        if (typeof refresh !== 'string') throw new NotApplicable('The issuer gave no refresh token.')
        await issuer.http.send(lost)
        const after = await issuer.http.send(issuer.rotation(client, refresh))
        if (!hasTokens(after)) return broken(`The old code ended the new grant: ${describeAnswer(after)}`)
      }
      return HELD
    },
  },
  {
    kind: 'running',
    id: 'LOST-02',
    title: 'After the answer to a refresh was lost, the same refresh token goes on at once.',
    level: 'should',
    source: 'RFC 9700 §4.14.2',
    async run({ issuer }) {
      const client = await issuer.register('LOST-02')
      for (const moment of MOMENTS) {
        const lost = issuer.rotation(client, (await issuer.obtainTokens(client)).refresh)
        await issuer.cut(lost, moment)
        const again = await issuer.http.send(lost)
        if (!hasTokens(again)) return broken(`The second try was answered ${describeAnswer(again)}`)
        const successor = again.members['refresh_token']
        const next = typeof successor === 'string' ? issuer.rotation(client, successor) : lost
        const after = await issuer.http.send(next)
        if (!hasTokens(after)) return broken(`Its successor was answered ${describeAnswer(after)}`)
      }
      return HELD
    },
  },
  {
    kind: 'running',
    id: 'LOST-03',
    title: 'After the answer to a registration was lost, a second one gives a client that works.',
    level: 'should',
    source: 'RFC 7591 §3',
    async run({ issuer }) {
      for (const moment of MOMENTS) {
        const registration = issuer.registration(`LOST-03 ${moment}`)
        await issuer.cut(registration, moment)
        const second = await issuer.http.send(registration)
        if (second.status !== 201) return broken(`The second registration was answered ${describeAnswer(second)}`)
        const client = issuer.keepClient(second)
        const answer = await issuer.http.send(issuer.redemption(client, await issuer.obtainCode(client)))
        if (!hasTokens(answer)) return broken(`Its code was answered ${describeAnswer(answer)}`)
      }
      return HELD
    },
  },
  {
    kind: 'running',
    id: 'LOST-04',
    title: 'A refresh token two generations old gives nothing to a thief, and ends the newest one.',
    level: 'must',
    source: 'RFC 9700 §4.14.2',
    async run(target) {
      const { issuer } = target
      const from = thief(target)
      const client = await issuer.register('LOST-04', { token_endpoint_auth_method: 'none' })
      const first = (await issuer.obtainTokens(client)).refresh
      const second = (await issuer.rotate(client, first)).refresh
      if (second === first) throw new NotApplicable('The issuer does not replace refresh tokens.')
      const newest = (await issuer.rotate(client, second)).refresh
      if (hasTokens(await issuer.http.send(issuer.rotation(client, first, from))))
        return broken('The token that is two generations old gave tokens.')
      const after = await issuer.http.send(issuer.rotation(client, newest))
      return hasTokens(after) ? broken('The newest token gave tokens after that.') : HELD
    },
  },
]

/** Where the requests of a thief come from: another network, if this machine has one for the issuer. */
export function thief({ hasElsewhere, knowsCopiesByNetwork }: Target): Way {
  if (hasElsewhere) return 'elsewhere'
  if (!knowsCopiesByNetwork) return 'usual'
  throw new NotApplicable('The issuer tells copies apart by network, and this machine has one for it.')
}
