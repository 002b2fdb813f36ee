import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openChaosProxy, type ChaosProxy } from '../../support/store/chaos-proxy.ts'
import { postForm, redeem, refresh, type Tokens } from '../../../tools/flow.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { assertUnavailable, openAskedNode, selectValue, type AskedNode } from '../../support/store/postgres-node.ts'

interface Setting {
  readonly url: string
  readonly proxy: ChaosProxy
  readonly stage: AskedNode
}

async function open(t: Parameters<typeof openMigratedDatabase>[0]): Promise<Setting> {
  const url = await openMigratedDatabase(t)
  const proxy = await openChaosProxy(t, url)
  return { url, proxy, stage: await openAskedNode(t, proxy.url) }
}

/** Sends a request, and cuts the connection before or after PostgreSQL has committed. */
async function loseAnswer({ proxy, stage }: Setting, when: 'before' | 'after', ask: keyof AskedNode['asks']) {
  const happened = proxy.cutAtCommit(when)
  await Promise.all([assertUnavailable(ask, stage.asks[ask]), happened])
}

describe('a connection that is cut at the commit', { concurrency: true }, () => {
  for (const when of ['before', 'after'] as const) {
    const variant = when === 'before' ? 'that did not arrive' : 'that arrived'

    test(`a refresh ${variant}, tried again, returns the one successor`, async (t) => {
      const setting = await open(t)
      const { url, stage } = setting
      const { server, client, token } = stage
      await loseAnswer(setting, when, 'refresh')
      const generation = `select generation from grants where live_hash is not null`
      assert.equal(await selectValue(url, generation), when === 'after' ? '1' : '0')
      const [first, second] = await Promise.all([refresh(server, client, token), refresh(server, client, token)])
      const successors = [first, second].map((answer) => answer.json<Tokens>().refresh_token)
      assert.ok(successors[0] !== undefined && successors[0] === successors[1], first.body)
      assert.equal(await selectValue(url, generation), '1')
      assert.equal((await refresh(server, client, successors[0])).statusCode, 200)
    })

    test(`a registration, a consent, a first use and a revocation ${variant} can be tried again`, async (t) => {
      const setting = await open(t)
      const { url, proxy, stage } = setting
      const { server, client, token, asks } = stage
      const unused = 'select count(*) from clients where used_at is null and held_until = 0'
      const before = Number(await selectValue(url, unused))
      await loseAnswer(setting, when, 'register')
      assert.equal((await asks.register()).statusCode, 201)
      // The client whose response was lost, and the one of the retry.
      assert.equal(Number(await selectValue(url, unused)) - before, when === 'after' ? 2 : 1)

      await loseAnswer(setting, when, 'consent')
      const location = new URL(String((await asks.consent()).headers.location))
      assert.equal((await redeem(server, client, location.searchParams.get('code') ?? '')).statusCode, 200)

      await loseAnswer(setting, when, 'useClient')
      assert.equal((await asks.useClient()).statusCode, 200)

      const secret = { client_id: client.client_id, client_secret: client.client_secret ?? '' }
      const revoke = () => postForm(server, '/v2/oauth/revoke', { ...secret, token })
      await Promise.all([proxy.cutAtCommit(when), assertUnavailable('revoke', revoke)])
      assert.equal((await revoke()).statusCode, 200)
      assert.equal((await refresh(server, client, token)).json().error, 'invalid_grant')
    })
  }

  test('a code whose redemption did not arrive can be redeemed', async (t) => {
    const setting = await open(t)
    await loseAnswer(setting, 'before', 'redeem')
    assert.equal((await setting.stage.asks.redeem()).statusCode, 200)
  })

  test('a code whose redemption arrived is redeemed: a retry revokes its grant, and the client must sign the user in again', async (t) => {
    const setting = await open(t)
    const { url, stage } = setting
    await loseAnswer(setting, 'after', 'redeem')
    const live = 'select count(*) from grants where revoked_at is null'
    assert.equal(await selectValue(url, live), '2')
    const again = await stage.asks.redeem()
    assert.deepEqual([again.statusCode, again.json().error], [400, 'invalid_grant'])
    assert.equal(await selectValue(url, live), '1')
    const answer = await stage.asks.consent()
    const code = new URL(String(answer.headers.location)).searchParams.get('code') ?? ''
    assert.equal((await redeem(stage.server, stage.client, code)).statusCode, 200)
  })

  test('in a batch of several operations each reports its outcome, and a retry of each is correct', async (t) => {
    const setting = await open(t)
    const { proxy, stage } = setting
    const { register, refresh: rotate, useClient } = stage.asks
    const happened = proxy.cutAtCommit('after')
    const answers = await Promise.all([register(), rotate(), useClient()])
    await happened
    assert.ok(answers.some(({ statusCode }) => statusCode === 503))
    for (const { statusCode } of answers) assert.ok(statusCode < 400 || statusCode === 503)
    for (const ask of [register, rotate, useClient]) assert.ok((await ask()).statusCode < 400)
  })
})
