import type { DeviceRecord, DeviceRequest } from '../../../ports/records/authorization.ts'
import type { NounOperations } from '../../noun.ts'
import { findBy, idKey, rows, shared } from '../../shared/statement.ts'
import { bigint, json, table, text } from '../../table.ts'

const DEVICES = table<DeviceRecord>({
  id: text('device_id'),
  deviceHash: text('device_hash'),
  clientId: text('client_id'),
  request: json('request', undefined, (stored) => {
    const request = stored as DeviceRequest
    return { ...request, organizationId: request.organizationId }
  }),
  network: text('network'),
  authorizationId: text('authorization_id'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

const START = shared(
  `insert into devices (${DEVICES.names}) values (${DEVICES.parameters})
   on conflict (device_id) do nothing returning device_id`,
)
const CONNECT = shared(
  `update devices set authorization_id = :authorizationId
   where device_id = :id and (authorization_id = :authorizationId or (authorization_id is null and expires_at > :now))
   returning device_id`,
)
const find = findBy(DEVICES, shared('select * from devices where device_id = :id'))

const operations = {
  startDevice: {
    keys: idKey,
    cache: 'kept',
    event: 'no-event',
    *run(device) {
      return (yield* rows(START, DEVICES.values(device))).length === 1 ? 'started' : 'code-taken'
    },
  },
  connectDevice: {
    keys: idKey,
    cache: 'kept',
    event: 'no-event',
    *run(connection) {
      if ((yield* rows(CONNECT, connection)).length === 1) return 'connected'
      return (yield* find(connection.id))?.authorizationId === undefined ? 'unknown' : 'taken'
    },
  },
} satisfies NounOperations

const reads = {
  findDevice: find,
}

export const devices = { operations, reads }
