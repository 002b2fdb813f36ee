import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { updateUser } from '../../src/admin/user/user.ts'
import { MAXIMA } from '../../src/base/maxima.ts'
import { authorizeUrl, EMAIL, locationOf, PlainBrowser, postForm, pushedUrl } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { login, makeClient, openLogin, PROFILE, userinfo } from '../endpoints/openid/login.ts'

/** The ID token of each profile is accepted as a hint. */

const server = await openLogin(WHOLE_FILE)
const client = await makeClient(server, { claims: 'id-token' })
const SCOPE = 'openid profile email address phone'
const LONG = 'x'.repeat(900)

/** A profile with so many bytes. */
async function setProfile(bytes: number): Promise<void> {
  const few = { ...PROFILE, nickname: LONG, address: { formatted: '' } }
  const names = ['given_name', 'family_name', 'middle_name', 'preferred_username', 'gender', 'zoneinfo', 'locale']
  const texts = names.slice(0, Math.floor((bytes - JSON.stringify(few).length) / 1000)).map((name) => [name, LONG])
  const profile = { ...few, ...Object.fromEntries(texts) }
  const formatted = 'x'.repeat(bytes - JSON.stringify(profile).length)
  await updateUser(server.context, EMAIL, { name: undefined, profile: { ...profile, address: { formatted } } })
}

for (const [bytes, nonce, hasClaims] of [
  [2900, 'a nonce', true],
  [MAXIMA.profile.most, 'n'.repeat(MAXIMA.nonce.most), false],
] as const) {
  test(`OpenID Connect Core §3.1.2.1: the ID token of a profile of ${bytes} bytes is accepted as a hint in each way`, async () => {
    await setProfile(bytes)
    const browser = new PlainBrowser(server)
    const { id_token: token = '', access_token: access } = await login(
      server,
      client,
      { scope: SCOPE, nonce, prompt: 'consent' },
      browser,
    )
    assert.ok(token.length <= MAXIMA.idToken.most, String(token.length))
    const claims = decodeJwt(token)
    assert.deepEqual([claims['nonce'], claims['nickname'] !== undefined], [nonce, hasClaims])
    assert.equal((await userinfo(server, access)).json<{ nickname: string }>().nickname, LONG)
    const hinted = { scope: SCOPE, id_token_hint: token, prompt: 'none' }
    const byGet = authorizeUrl(client, hinted)
    const form = new URL(byGet, server.origin).searchParams
    const byPost = locationOf(await postForm(server, '/v2/oauth/authorize', form))
    for (const url of [byGet, byPost.slice(server.origin.length), await pushedUrl(server, client, hinted)]) {
      const answer = await browser.get(url)
      assert.ok(new URL(locationOf(answer)).searchParams.get('code'), locationOf(answer))
    }
    const ended = await postForm(server, '/v2/oauth/end-session', { id_token_hint: token })
    assert.equal(ended.statusCode, 303, ended.body)
  })
}
