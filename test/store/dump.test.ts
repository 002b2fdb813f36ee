import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registerClient } from '../../tools/flow.ts'
import { openTestServer } from '../support/server.ts'
import { assertStoreUnchanged, execute } from '../support/store/dump.ts'

test('NSC: the check of a refusal finds a changed row, and passes what was set and set back, or only counted', async (t) => {
  const server = await openTestServer(t)
  await registerClient(server)
  const use = (at: number): void => execute(server, 'update clients set used_at = ?', at)
  use(1)
  const changed = assertStoreUnchanged(server, async () => use(2))
  await assert.rejects(changed, /used_at: 2/)
  await assertStoreUnchanged(server, async () => [3, 2].forEach(use))
  await assertStoreUnchanged(server, async () => execute(server, 'delete from audit_links'))
})
