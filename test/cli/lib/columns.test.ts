import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record } from '../../../src/cli/lib/columns.ts'

test('a record has a line for each member of the JSON, and shows numbers, lists and what is empty', () => {
  const answer = {
    name: 'Wiki',
    age: 60,
    none: 0,
    isOpen: false,
    hosts: ['a', 'b'],
    empty: [],
    missing: null,
    absent: undefined,
    profile: { given_name: 'Ada', phone_number_verified: true, address: { country: 'GB', locality: 'London' } },
    bare: {},
    identities: [
      { provider_id: 'google', email: null },
      { provider_id: 'github', email: 'ada@acme.test' },
    ],
  }
  assert.deepEqual(
    record(answer, (_style, text) => text).map((line) => line.split(/ {2,}/)),
    [
      ['name', 'Wiki'],
      ['age', '60'],
      ['none', '0'],
      ['isOpen', 'no'],
      ['hosts', 'a, b'],
      ['empty', '–'],
      ['missing', '–'],
      ['profile', 'given_name=Ada, phone_number_verified=yes, address.country=GB, address.locality=London'],
      ['bare', '–'],
      ['identities', 'provider_id=google; provider_id=github, email=ada@acme.test'],
    ],
  )
})
