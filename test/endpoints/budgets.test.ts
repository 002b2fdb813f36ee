import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointsFor } from '../../src/endpoints/index.ts'
import type { Budgets } from '../../src/ports/budgets.ts'
import {
  authorizeUrl,
  hiddenFields,
  locationOf,
  obtainTokens,
  PlainBrowser,
  postForm,
  refresh,
  registerClient,
  requestToken,
  type Tokens,
} from '../../tools/flow.ts'
import { poll, startDevice, typeCode } from '../../tools/device-flow.ts'
import { createDeviceClient, DEVICES_ON } from '../support/sign-in/devices.ts'
import { authentication, registerKeyClient } from '../support/key-clients.ts'
import { openProviderHost } from '../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../support/provider/providers.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { doFirstStep, submitTo } from '../support/sign-in/apps.ts'
import { PATHS } from '../../src/endpoints/paths.ts'
import { deliver, openMailHost } from '../support/hosts/mail-host.ts'
import { openDocumentHost } from '../support/hosts/document-host.ts'
import type { TestServer } from '../support/server.ts'
import { OPAQUE_API, openWithOpaqueApis } from '../support/apis.ts'

/** Records which budgets the requests to each endpoint take, by `<method> <path>`. */
function recordTaken(server: TestServer): { readonly taken: Map<string, Set<string>>; readonly asked: TestServer } {
  const taken = new Map<string, Set<string>>()
  let current = new Set<string>()
  const budgets = server.context.budgets as { take: Budgets['take'] }
  const { take } = budgets
  budgets.take = (budget, ...rest) => {
    current.add(budget)
    return take(budget, ...rest)
  }
  const inject: TestServer['inject'] = (request) => {
    const url = typeof request.url === 'string' ? request.url : ''
    const key = `${request.method} ${url.split('?', 1)[0]}`
    current = taken.get(key) ?? new Set()
    taken.set(key, current)
    return server.inject(request)
  }
  return { taken, asked: { ...server, inject } }
}

test('BND-04: an endpoint takes exactly the budgets that its row names', async (t) => {
  const { server, api } = await openWithOpaqueApis(t, { env: { ...(await openMailHost(t)).env, ...DEVICES_ON } })
  const { taken, asked } = recordTaken(server)
  const idp = await openProviderHost(t)
  await addProvider(server, idp)
  const client = await registerClient(asked)
  const app = await registerKeyClient(asked)
  const wrong = { ...client, client_secret: 'gcs_wrong' }
  const grant = { grant_type: 'client_credentials', resource: OPAQUE_API }
  await requestToken(asked, wrong, grant)
  const { access_token: token } = (await requestToken(asked, client, grant)).json<{ access_token: string }>()
  for (const url of ['/v2/oauth/introspect', '/v2/oauth/revoke', '/v2/oauth/par'])
    for (const client_secret of ['wrong', api.client_secret, client.client_secret])
      for (const { client_id } of [api, client])
        await postForm(asked, url, { token, client_id, client_secret: client_secret ?? '' })

  for (const path of ['token', 'introspect', 'revoke', 'par'])
    await postForm(asked, `/v2/oauth/${path}`, { ...grant, token, ...authentication(server, app) })

  const host = await openDocumentHost(t)
  // The second time each document is renewed.
  for (const laterMs of [0, 3_600_000]) {
    server.clock.advance(laterMs)
    for (const path of ['token', 'introspect', 'revoke', 'par', 'device_authorization']) {
      const documented = { client: host.client(`/${path}.json`), key: app.key }
      await postForm(asked, `/v2/oauth/${path}`, { ...grant, token, ...authentication(server, documented) })
    }
    await asked.inject({ method: 'GET', url: authorizeUrl(host.client()) })
  }

  const { pathname, search } = new URL(String(client['registration_client_uri']))
  for (const bearer of ['wrong', String(client['registration_access_token'])])
    for (const [method, path] of [
      ['POST', pathname],
      ['GET', pathname],
      ['PUT', pathname],
      ['POST', `${pathname}/secret`],
      ['DELETE', pathname],
    ] as const)
      await asked.inject({
        method,
        url: path + search,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(method === 'GET' || method === 'DELETE'
          ? {}
          : { payload: JSON.stringify({ client_id: client.client_id }) }),
      })

  const copied = await registerClient(asked)
  const { refresh_token: first = '' } = await obtainTokens(asked, copied)
  for (let newest = first, count = 0; count < 2; count += 1)
    newest = (await refresh(asked, copied, newest)).json<Tokens>().refresh_token ?? ''
  await refresh({ inject: (one) => asked.inject({ ...one, remoteAddress: '127.0.0.2' }) }, copied, first)

  const cli = await createDeviceClient(server)
  const device = await startDevice(asked, cli)
  await poll(asked, cli, device)
  for (const form of [{}, authentication(server, app)]) await postForm(asked, PATHS.deviceAuthorization, form)
  const browser = new PlainBrowser(asked)
  await typeCode(browser, device)
  const started = await registerClient(asked)
  const start = authorizeUrl(started)
  const pushed = new URLSearchParams(start.split('?')[1])
  pushed.set('client_secret', started.client_secret ?? '')
  await postForm(asked, PATHS.par, pushed)
  await postForm(asked, '/v2/oauth/authorize', new URLSearchParams(start.split('?')[1]))
  const page = await browser.get(locationOf(await browser.get(start)))
  await browser.submit(page, { email: 'nobody@acme.test', password: 'wrong' })
  await submitTo(browser, page, PATHS.signInByPasskey, {})
  await signInAt({ browser, page, host: idp })
  await addApp(server)
  const second = await doFirstStep(browser, await registerClient(asked))
  for (const path of [PATHS.signInCode, PATHS.signInRecoveryCode]) await submitTo(browser, second, path, { code: 'x' })
  await browser.post(PATHS.signInPasskeyStep, hiddenFields(second))
  for (const path of [PATHS.stepUp, PATHS.signInApp, PATHS.signInAppEnabled, PATHS.signInNewPasskey])
    await postForm(asked, path, {})
  const endpoints = endpointsFor(server.context.settings)
  for (const { method, path } of endpoints) if (method === 'GET') await asked.inject({ method, url: path })
  const forms = endpoints.filter(
    ({ method, path }) => method === 'POST' && /consent|sign-out|end-session|account|userinfo/.test(path),
  )
  for (const { path } of forms) await postForm(asked, path, {})

  await postForm(asked, PATHS.forgot, { email: 'nobody@acme.test' })
  await deliver(server)

  for (const row of endpoints) {
    const budgets = 'budgets' in row ? row.budgets : []
    const seen = taken.get(`${row.method} ${row.path.replace('{provider}', 'idp')}`)
    assert.ok(seen !== undefined, `${row.name}: no request was sent.`)
    assert.deepEqual([...seen].toSorted(), [...budgets].toSorted(), `${row.method} ${row.name}`)
  }
})
