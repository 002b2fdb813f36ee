import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupIdOf, organizationOfGroup, parseGroupId } from '../../../src/protocol/access/group.ts'
import { mintOrganizationId, type OrganizationId } from '../../../src/protocol/ids.ts'
import { NOW } from '../../support/records.ts'

const GENERATED = mintOrganizationId(NOW, () => Buffer.alloc(16, 7))

test('a group has the id that was chosen, after that of its organization', () => {
  for (const [own, organizationId] of [
    ['finance', undefined],
    ['a:b', undefined],
    ['role:offline_access', 'acme' as OrganizationId],
    ['finance', GENERATED],
  ] as const) {
    const id = groupIdOf(own, organizationId)
    assert.equal(parseGroupId(id), id)
    assert.equal(organizationOfGroup(id), organizationId)
  }
})

test('GRP-01: no text that could be read as the group of another owner is an id', () => {
  const wrong = [
    '',
    '/',
    '/finance',
    'acme/',
    'acme/a/b',
    'acme//a',
    ' acme/a',
    'acme/ a',
    'gor_x/a',
    'acme/a\n',
    'a b',
  ]
  const alike = ['аcme/finance', 'acme∕finance', 'none/finance', 'acme/none', '..', '-finance', 'ｆinance']
  for (const text of [...wrong, ...alike]) assert.equal(parseGroupId(text), undefined, JSON.stringify(text))
})
