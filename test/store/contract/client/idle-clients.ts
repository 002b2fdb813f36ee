import assert from 'node:assert/strict'
import type { ClientId } from '../../../../src/protocol/ids.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, times, type Suite } from '../harness.ts'
import { aClient, anInstallation, at, HOUR, MINUTE, NOW } from '../../../support/records.ts'

/** The oldest clients, and those of them that are idle. */
export const idleClientCases: Suite = (check) => {
  check('listOldestClients goes from slice to slice, and says how many it examined', async ({ first, second }) => {
    const clients = times(5, (index) => aClient({}, at(index)))
    await performAll(first, 'registerClient', clients)
    for (const client of clients.slice(2)) await perform(first, 'useClient', { id: client.id, now: at(9) })
    const found = []
    let after: ClientId | undefined
    do {
      const slice = await second.listOldestClients({ after, size: 2, isUsed: true })
      found.push([slice.clients.map(({ id }) => clients.findIndex((client) => client.id === id)), slice.examined])
      after = slice.next
    } while (after !== undefined)
    assert.deepEqual(found, [
      [[], 2],
      [[2, 3], 2],
      [[4], 1],
    ])
    const none = await second.listOldestClients({ after: clients[4]?.id, size: 2 })
    assert.deepEqual(none, { clients: [], examined: 0, next: undefined })
  })

  check('idleAt: a client that nothing but its registration speaks for is idle', async ({ first, second }) => {
    const idle = aClient({}, at(-HOUR))
    const others = {
      verified: aClient({}, at(-HOUR)),
      approved: aClient({}, at(-HOUR)),
      held: aClient({}, at(-HOUR)),
      installed: aClient({}, at(-HOUR)),
      adopted: aClient({}, at(-HOUR)),
    }
    const all = [idle, ...Object.values(others)]
    await performAll(first, 'registerClient', all)
    for (const { id } of all) await perform(first, 'useClient', { id, now: at(-HOUR) })
    await perform(first, 'verifyClient', { id: others.verified.id, now: at(-HOUR) })
    await perform(first, 'approveClientScope', { id: others.approved.id, scope: 'read' as Scope })
    await perform(first, 'noteUses', [
      { id: others.held.id, at: at(-MINUTE), heldUntil: at(HOUR) },
      { id: idle.id, at: at(-MINUTE), heldUntil: at(-1) },
    ])
    await perform(first, 'install', anInstallation({ clientId: others.installed.id }))
    const { id, metadata } = others.adopted
    await perform(first, 'adoptClient', { id, previous: metadata, now: at(-HOUR) })
    const filter = { isUsed: true, unusedSince: NOW, idleAt: NOW } as const
    const { clients } = await second.listOldestClients({ ...filter, after: undefined, size: 10 })
    assert.deepEqual(new Set(clients.map((client) => client.id)), new Set([idle.id, others.installed.id]))
    const outcomes = []
    for (const client of all) outcomes.push(await perform(first, 'purgeClient', { id: client.id, filter }))
    assert.deepEqual(outcomes, ['deleted', 'kept', 'kept', 'kept', 'kept', 'kept'])
    assert.equal(await second.findClient(idle.id), undefined)
  })
}
