import { decodeJwt } from 'jose'
import { broken, HELD, type Case } from '../case.ts'
import { hasTokens, OTHER_RESOURCE } from '../issuer.ts'

export const TOKEN_CASES: readonly Case[] = [
  {
    kind: 'running',
    id: 'TOKEN-01',
    title: 'Neither the code nor the refresh token of one client gives tokens to another client.',
    level: 'must',
    source: 'RFC 6749 §4.1.3, §6',
    async run({ issuer }) {
      const [owner, other] = [await issuer.register('TOKEN-01 a'), await issuer.register('TOKEN-01 b')]
      const code = await issuer.obtainCode(owner)
      if (hasTokens(await issuer.http.send(issuer.redemption(other, code))))
        return broken('The code gave tokens to another client.')
      const { refresh } = await issuer.obtainTokens(owner)
      return hasTokens(await issuer.http.send(issuer.rotation(other, refresh)))
        ? broken('The refresh token gave tokens to another client.')
        : HELD
    },
  },
  {
    kind: 'running',
    id: 'TOKEN-02',
    title: 'A code gives no token for an API that the authorization did not name.',
    level: 'must',
    source: 'RFC 8707 §2.2',
    async run({ issuer }) {
      const client = await issuer.register('TOKEN-02')
      const code = await issuer.obtainCode(client)
      const answer = await issuer.http.send(issuer.redemption(client, code, { resource: OTHER_RESOURCE }))
      if (!hasTokens(answer)) return HELD
      const token = String(answer.members['access_token'])
      if (token.split('.').length !== 3) throw new Error('There is an opaque token, and its audience is not known.')
      const audience = [decodeJwt(token).aud ?? []].flat()
      return audience.includes(OTHER_RESOURCE) ? broken(`The token is for ${OTHER_RESOURCE}`) : HELD
    },
  },
]
