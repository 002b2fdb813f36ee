import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { DeviceRecord } from '../../../../src/ports/records/authorization.ts'
import { hashedId, mintClientId, mintOrganizationId, type DeviceId } from '../../../../src/protocol/ids.ts'
import type { SecretHash } from '../../../../src/protocol/secrets.ts'
import { NO_SCOPE } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { anAuthorization, at, MINUTE, NOW } from '../../../support/records.ts'
import { aSweep } from '../server/sweep.ts'

export const deviceCases: Suite = (check) => {
  check('RFC 8628 §3.2: a device is stored and read as it is, and its code is taken', async ({ first, second }) => {
    const device = aDevice()
    assert.equal(await perform(first, 'startDevice', device), 'started')
    const other = { ...aDevice(), id: device.id }
    assert.equal(await perform(second, 'startDevice', other), 'code-taken')
    assert.deepEqual(await second.findDevice(device.id), device)
    const ofOrganization = aDevice({
      request: { ...device.request, organizationId: mintOrganizationId(NOW, randomBytes) },
    })
    await perform(first, 'startDevice', ofOrganization)
    assert.deepEqual(await second.findDevice(ofOrganization.id), ofOrganization)
    assert.equal(await second.findDevice(aDevice().id), undefined)
  })

  check('DEV-07: a device is connected with one authorization, which may ask again', async ({ first, second }) => {
    const device = aDevice()
    await perform(first, 'startDevice', device)
    const [winner, other] = times(2, () => ({ id: device.id, authorizationId: anAuthorization().id, now: at(1) }))
    assert.ok(winner && other)
    const batch = await performAll(first, 'connectDevice', [winner, winner, other])
    assert.deepEqual(batch, ['connected', 'connected', 'taken'])
    assert.equal(await perform(second, 'connectDevice', other), 'taken')
    assert.equal(await perform(second, 'connectDevice', { ...winner, now: device.expiresAt }), 'connected')
    assert.deepEqual(await second.findDevice(device.id), { ...device, authorizationId: winner.authorizationId })
  })

  check('DEV-02: a device that has expired is not connected, nor one that does not exist', async ({ first }) => {
    const device = aDevice({ expiresAt: at(MINUTE) })
    await perform(first, 'startDevice', device)
    const connect = (id: DeviceId, now: number) =>
      perform(first, 'connectDevice', { id, authorizationId: anAuthorization().id, now: at(now) })
    assert.equal(await connect(aDevice().id, 0), 'unknown')
    assert.equal(await connect(device.id, MINUTE), 'unknown')
    assert.equal(await connect(device.id, MINUTE - 1), 'connected')
    assert.equal(await connect(device.id, MINUTE), 'taken')
  })

  check('DEV-07: of concurrent authorizations of one device exactly one connects it', async (stores) => {
    const device = aDevice()
    await perform(stores.first, 'startDevice', device)
    const connections = times(20, () => ({ id: device.id, authorizationId: anAuthorization().id, now: at(1) }))
    const outcomes = await race(stores, 'connectDevice', connections)
    assert.deepEqual(tally(outcomes), { connected: 1, taken: 19 })
    const winner = connections[outcomes.indexOf('connected')]?.authorizationId
    assert.equal((await stores.second.findDevice(device.id))?.authorizationId, winner)
  })

  check('RFC 8628 §6.1: of concurrent devices with one code exactly one starts', async (stores) => {
    const { id } = aDevice()
    const devices = times(20, () => aDevice({ id }))
    const outcomes = await race(stores, 'startDevice', devices)
    assert.deepEqual(tally(outcomes), { started: 1, 'code-taken': 19 })
    assert.deepEqual(await stores.second.findDevice(id), devices[outcomes.indexOf('started')])
  })

  check('DEV-13: the sweep removes devices ten minutes after they expired, and no others', async ({ first }) => {
    const [gone, kept] = [aDevice({ expiresAt: at(-10 * MINUTE - 1) }), aDevice({ expiresAt: at(-10 * MINUTE) })]
    await performAll(first, 'startDevice', [gone, kept])
    assert.equal((await perform(first, 'sweepExpired', aSweep())).devices, 1)
    assert.equal(await first.findDevice(gone.id), undefined)
    assert.deepEqual(await first.findDevice(kept.id), kept)
  })
}

export function aDevice(differing: Partial<DeviceRecord> = {}): DeviceRecord {
  const { scope, resources } = anAuthorization()
  return {
    id: hashedId(randomBytes(32)) as DeviceId,
    deviceHash: randomBytes(32).toString('base64url') as SecretHash,
    clientId: mintClientId(NOW, randomBytes),
    request: { scope, ungrantedScope: NO_SCOPE, resources, organizationId: undefined },
    network: '203.0.113.7',
    authorizationId: undefined,
    createdAt: NOW,
    expiresAt: at(10 * MINUTE),
    ...differing,
  }
}
