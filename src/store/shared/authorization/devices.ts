import type { DeviceRecord } from '../../../ports/records/authorization.ts'
import type { DeviceId } from '../../../protocol/ids.ts'
import { DEVICES } from '../../tables/token.ts'
import { idKey, rows, shared, type SharedHandlers, type Steps } from '../statement.ts'

const START = shared(
  `insert into devices (${DEVICES.names}) values (${DEVICES.parameters})
   on conflict (device_id) do nothing returning device_id`,
)
const CONNECT = shared(
  `update devices set authorization_id = :authorizationId
   where device_id = :id and (authorization_id = :authorizationId or (authorization_id is null and expires_at > :now))
   returning device_id`,
)
const FIND = shared('select * from devices where device_id = :id')

export const deviceHandlers = {
  startDevice: {
    keys: idKey,
    *run(device) {
      return (yield* rows(START, DEVICES.values(device))).length === 1 ? 'started' : 'code-taken'
    },
  },
  connectDevice: {
    keys: idKey,
    *run(connection) {
      if ((yield* rows(CONNECT, connection)).length === 1) return 'connected'
      return (yield* find(connection.id))?.authorizationId === undefined ? 'unknown' : 'taken'
    },
  },
} satisfies SharedHandlers

export const deviceReads = { findDevice: find }

function* find(id: DeviceId): Steps<DeviceRecord | undefined> {
  const [row] = yield* rows(FIND, { id })
  return row === undefined ? undefined : DEVICES.read(row)
}
