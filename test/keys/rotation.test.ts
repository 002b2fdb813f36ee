import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { keepKeys, listKeys } from '../../src/admin/key/key.ts'
import { registerClient, requestToken, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import { isActive } from '../support/token-questions.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../support/server.ts'
import { openStillClocks } from '../support/clocks.ts'
import { closedFirst } from '../support/closed-first.ts'
import { CachingVerifier } from './caching-verifier.ts'

const DAY = 24 * 60 * 60 * 1000
/** The shortest rotation, and a token lifetime as long: each key signs for as long as one of its tokens is valid. */
const SETTINGS = { GRANTOR_KEY_ROTATION: '86400', GRANTOR_ACCESS_TOKEN_LIFETIME: '86400' }
/**
 * Milliseconds between the checks of one rotation: around the time at which a key starts to sign, and the rest of the day.
 */
const STEPS = [2500, 550_000, DAY - 1_252_500, 698_000, 1000, 1000]
/** Without ID tokens, so that all keys sign access tokens. */
const GRANT_TYPES = ['client_credentials'] as const
/** How far the second node's clock is ahead. With a larger difference the node would not be ready. */
const SKEW_MS = 1900

interface Issued {
  readonly token: string
  readonly expiresAt: number
}

/** The key maintenance that a node runs every minute. */
function keep({ context }: TestServer) {
  return keepKeys(context)
}

async function issue(node: TestServer, client: RegisteredClient): Promise<Issued> {
  const answer = await requestToken(node, client, { grant_type: 'client_credentials' })
  assert.equal(answer.statusCode, 200, answer.body)
  const { access_token: token, expires_in: seconds } = answer.json<Tokens>()
  return { token, expiresAt: node.clock.now() + seconds * 1000 }
}

const PLACES: readonly (readonly [
  store: string,
  nodes: 1 | 2,
  rotations: number,
  url: (t: TestContext) => string | Promise<string>,
])[] = [
  ['PostgreSQL', 2, 30, openMigratedDatabase],
  ['SQLite', 1, 10, (t) => `sqlite:${join(temporaryFolder(t), 'grantor.db')}`],
]

for (const [store, count, rotations, url] of PLACES) {
  test(`MET-05: through ${rotations} rotations on ${store}, with ${count === 1 ? 'one node' : 'two nodes'}, every unexpired token verifies and is active`, async (t) => {
    const closed = closedFirst(t)
    const env = { ...SETTINGS, DATABASE_URL: await url(t), GRANTOR_SECRET: 's'.repeat(40) }
    const [clock, clockAhead] = openStillClocks([0, SKEW_MS])
    const first = closed(await openTestServer(t, { env, clock, grantTypes: GRANT_TYPES }))
    const nodes =
      count === 1
        ? [first]
        : [first, closed(await openTestServer(t, { env, clock: clockAhead, grantTypes: GRANT_TYPES }))]
    const client = await registerClient(first)
    const apis = [nodes, nodes.toReversed()].map((order) => new CachingVerifier(order, clock.now))
    const signers = new Set<string>()
    let live: Issued[] = []
    for (let step = 0; step < (rotations + 1) * STEPS.length; step += 1) {
      // All checks at the same time, on both nodes.
      const [issued] = await Promise.all([
        Promise.all(nodes.map((node) => issue(node, client))),
        ...nodes.map((node) => keep(node)),
      ])
      for (const { token } of issued) signers.add(decodeProtectedHeader(token).kid ?? '')
      live = [...live.filter(({ expiresAt }) => expiresAt > clockAhead.now() + 1000), ...issued]
      const sample = [...live.slice(0, 1), ...issued].map(({ token }) => token)
      for (const api of apis) for (const token of sample) await api.verify(token)
      const answers = sample.flatMap((token) => nodes.map((node) => isActive(node, client, token)))
      assert.deepEqual(new Set(await Promise.all(answers)), new Set([true]))
      assert.ok((await listKeys(first.context)).length <= 5)
      clock.advance(STEPS[step % STEPS.length] ?? 0)
    }
    assert.ok(signers.size > rotations)
  })
}
