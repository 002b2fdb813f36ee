import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import { API_CHANGES, APIS } from '../../src/store/nouns/server/apis.ts'
import {
  assignments,
  bigint,
  flag,
  isUnchanged,
  previousValues,
  table,
  text,
  type Table,
} from '../../src/store/table.ts'
import { CLIENTS } from '../../src/store/nouns/client/clients.ts'
import { GRANTS } from '../../src/store/nouns/token/grants.ts'
import { INSTALLATIONS } from '../../src/store/nouns/organization/installations.ts'
import { USERS } from '../../src/store/nouns/user/users.ts'
import { aClient, aFamily, aGrant, aHash, anApi, anInstallation, at, aUser } from '../support/records.ts'

/** Writes a record to the columns of its table, and reads it again. */
function stored<Stored>({ values, read }: Table<Stored>): (record: Stored) => Stored {
  return (record) => read(values(record))
}

test('a record that is written to its columns is read as the same record, with and without optional members', () => {
  const users = [aUser(), aUser({ name: undefined, disabledAt: at(3) })]
  assert.deepEqual(users.map(stored(USERS)), users)
  const clients = [aClient(), aClient({ previousSecret: { hash: aHash(), until: at(9) } })]
  assert.deepEqual(clients.map(stored(CLIENTS)), clients)
  const grants = [aGrant({ family: undefined }), aGrant({ family: aFamily({ generation: 2 }) })]
  assert.deepEqual(grants.map(stored(GRANTS)), grants)
  const installations = [anInstallation({ actsForMembers: true }), anInstallation({ actsForMembers: false })]
  assert.deepEqual(installations.map(stored(INSTALLATIONS)), installations)
  const scopesSince = new Map([['read', 5 as EpochMs]])
  const apis = [anApi(), anApi({ name: undefined, scopesSince })]
  assert.deepEqual(apis.map(stored(APIS)), apis)
})

test('a compare-and-set names every column once', () => {
  const things = table<{ readonly name: string; readonly size: number | undefined; readonly isOpen: boolean }>({
    name: text('name'),
    size: bigint('size'),
    isOpen: flag('is_open'),
  })
  assert.equal(
    assignments(things),
    'name = cast(:name as text), size = cast(:size as bigint), is_open = cast(:is_open as bigint)',
  )
  assert.equal(
    isUnchanged(things),
    `name is not distinct from cast(:previous_name as text) and size is not distinct from cast(:previous_size as bigint) and is_open is not distinct from cast(:previous_is_open as bigint)`,
  )
  assert.deepEqual(previousValues(things, { name: 'a', size: undefined, isOpen: true }), {
    previous_name: 'a',
    previous_size: null,
    previous_is_open: 1,
  })
})

test('an update of an API changes neither its resource nor its credentials', () => {
  assert.doesNotMatch(assignments(API_CHANGES), /resource|credential|secret|created/)
})
