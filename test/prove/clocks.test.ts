import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { proveClocks, STEPS, type ClockNode } from '../../prove/clocks/campaign.ts'
import { openFindings } from '../../prove/findings.ts'
import { createAda } from '../support/accounts.ts'
import { openSteppingClocks, openTestServer } from '../support/server.ts'
import { execute } from '../support/store/dump.ts'

/** The violations that the campaign reports for a server on which a clock step causes the damage. */
async function prove(t: TestContext, damage: 'none' | 'issues' | 'forgets' | 'deletes'): Promise<readonly string[]> {
  const [clock] = openSteppingClocks(['node'])
  const server = await openTestServer(t, { clock })
  await createAda(server)
  let aheadMs = 0
  const node: ClockNode = {
    name: 'the node',
    server,
    setClock(newAheadMs) {
      if (newAheadMs === 0 || damage === 'issues') return (clock.step(-aheadMs), void (aheadMs = 0))
      clock.step(newAheadMs - aheadMs)
      aheadMs = newAheadMs
      if (damage === 'forgets') execute(server, 'delete from revoked_tokens')
      if (damage === 'deletes') execute(server, 'delete from sessions')
    },
    isReady: async () => (await server.inject({ method: 'GET', url: '/health/ready' })).statusCode === 200,
    restart: undefined,
  }
  const findings = openFindings({ isPrinted: false })
  const times = { holdMs: { running: 10, restarted: 10 }, followedAfterMs: 10_000 }
  await proveClocks({ store: 'SQLite', nodes: [node], steps: STEPS.slice(-1), ...times }, findings)
  return [...new Set(findings.violations.map((violation) => violation.split(': ')[1] ?? ''))]
}

test('a server that withstands the step has no violation', async (t) => {
  assert.deepEqual(await prove(t, 'none'), [])
})

test('a server that issues tokens with a wrong clock is found', async (t) => {
  assert.deepEqual(await prove(t, 'issues'), [
    'it answered 200 to the request for a token',
    'it answered 200 to the request for a refresh',
    'it answered 303 to the request for a code',
  ])
})

test('a lost revocation is found', async (t) => {
  assert.deepEqual(await prove(t, 'forgets'), ['the revoked token is active at the node'])
})

test('a deleted live row is found', async (t) => {
  assert.deepEqual(await prove(t, 'deletes'), ['the session or the consent is gone at the node'])
})
