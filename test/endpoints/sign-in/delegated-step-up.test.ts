import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { locationOf, redeem } from '../../../tools/flow.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { APPLICATION_URL, openApplication, redirectOf, startAtClient } from '../../support/application.ts'
import { openTestServer } from '../../support/server.ts'
import { tokensOf } from '../openid/login.ts'

const TWO = 'urn:grantor:acr:2fa'
const essential = (value: string) => ({ claims: JSON.stringify({ id_token: { acr: { essential: true, value } } }) })

/** What the application is asked for, and what follows with one factor and with two: the status, or the scope and `acr` of the token. */
const FACTORS: readonly (readonly [
  parameters: Readonly<Record<string, string>>,
  isNeeded: boolean,
  one: string,
  two: string,
])[] = [
  [{ scope: 'read' }, false, 'read -', 'read -'],
  [{ scope: 'read', acr_values: TWO }, true, 'read urn:grantor:acr:1fa', `read ${TWO}`],
  [{ scope: 'read', acr_values: `phr ${TWO} urn:grantor:acr:1fa` }, false, 'read urn:grantor:acr:1fa', `read ${TWO}`],
  [{ scope: 'read', ...essential(TWO) }, true, '409 multi_factor_needed', `read ${TWO}`],
  [
    { scope: 'read', ...essential('phr') },
    false,
    'unmet_authentication_requirements',
    'unmet_authentication_requirements',
  ],
  [{ scope: 'read pay' }, true, 'read -', `read pay ${TWO}`],
  [{ scope: 'read admin' }, false, 'read -', 'read -'],
  [{ scope: 'pay' }, true, 'unmet_authentication_requirements', `pay ${TWO}`],
]

test('RFC 9470 §5, DEL-03: the application is asked for two factors where it can state them, once for each request', async (t) => {
  const env = { GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_REDIRECT_ERRORS: 'true' }
  const server = await openTestServer(t, { env })
  const application = await openApplication(server)
  const stepUp = (level: 2 | 3) => ({ stepUp: { level, maxAge: undefined } })
  await declareApi(server, 'https://bank.example', {}, [
    { name: 'read', sentence: 'Read', grantedTo: 'users' },
    { name: 'pay', sentence: 'Pay', grantedTo: 'users', ...stepUp(2) },
    { name: 'admin', sentence: 'Administer', grantedTo: 'users', ...stepUp(3) },
  ])
  knowApis(server)
  // Only a scope that is left out is allowed: this server asks for the rest, and the application is not asked again.
  const begun = await startAtClient(server, { resource: 'https://bank.example', scope: 'read pay' })
  const only = await application.signIn(begun.interaction, { scope: 'pay' })
  const asked = await begun.browser.get(locationOf(await begun.browser.get(only)))
  assert.match(asked.body, /Pay[^]*Needs a second step/)
  const { searchParams: rest } = new URL(
    locationOf(await begun.browser.submit(asked, { decision: 'allow', 'allow.read': 'on' })),
  )
  assert.ok(rest.has('code'))
  for (const [parameters, isNeeded, one, two] of FACTORS) {
    for (const multi_factor of [false, true]) {
      const what = JSON.stringify({ ...parameters, multi_factor })
      const { browser, client, interaction } = await startAtClient(server, {
        resource: 'https://bank.example',
        ...parameters,
      })
      const shown = (await application.show(interaction)).json<{ readonly multi_factor_needed: boolean }>()
      assert.equal(shown.multi_factor_needed, isNeeded, what)
      const accepted = await application.accept(interaction, { multi_factor, remember_seconds: 600 })
      const expected = multi_factor ? two : one
      if (accepted.statusCode !== 200) {
        const { detail } = accepted.json<{ readonly detail: readonly { readonly type: string }[] }>()
        assert.equal(`${accepted.statusCode} ${detail[0]?.type}`, expected, what)
        const rejected = await application.reject(interaction, 'unmet_authentication_requirements')
        const { searchParams } = new URL(locationOf(await browser.get(redirectOf(rejected))))
        assert.equal(searchParams.get('error'), 'unmet_authentication_requirements')
        continue
      }
      const { searchParams } = new URL(locationOf(await browser.get(redirectOf(accepted))))
      const code = searchParams.get('code')
      const { scope, acr = '-' } =
        code === null ? {} : decodeJwt(tokensOf(await redeem(server, client, code)).access_token)
      assert.equal(searchParams.get('error') ?? `${String(scope)} ${String(acr)}`, expected, what)
    }
  }
})
