import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Belonging,
  countingGroups,
  type GroupCircumstances,
  type GroupMembership,
} from '../../../src/protocol/access/belonging.ts'
import { type GroupId, sourceOfProvider } from '../../../src/protocol/access/group.ts'
import type { OrganizationId, UserId } from '../../../src/protocol/ids.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { at, NOW } from '../../support/records.ts'

const ACME = 'acme' as OrganizationId
const IDP = 'idp' as ProviderId
const PROVIDER = { id: IDP, createdAt: NOW, disabledAt: undefined, settings: { groups: ['8f3c=dev', 'CN=Ops=ops'] } }
const GIVEN: GroupCircumstances = { now: at(10), providers: [PROVIDER], organizationId: undefined }

function said(groupId: string, differing: Partial<GroupMembership> = {}): GroupMembership {
  return { groupId: groupId as GroupId, source: 'operator', createdAt: NOW, expiresAt: undefined, ...differing }
}

function belonging(groups: readonly GroupMembership[], organizationIds: readonly OrganizationId[] = []): Belonging {
  return { userId: 'ada' as UserId, groups, organizationIds }
}

test('the groups that count are sorted, each once, from all sources', () => {
  const groups = [said('ops'), said('dev'), said('ops', { source: 'application' })]
  assert.deepEqual(countingGroups(belonging(groups), GIVEN), ['dev', 'ops'])
  assert.deepEqual(countingGroups(belonging([]), GIVEN), [])
})

test('a row counts before its end only', () => {
  const [past, later] = [said('past', { expiresAt: at(10) }), said('later', { expiresAt: at(11) })]
  assert.deepEqual(countingGroups(belonging([past, later]), GIVEN), ['later'])
})

test('what a provider said counts while it is enabled and names the group, and is not the word of an earlier one with its id', () => {
  const own = belonging([said('ops', { source: sourceOfProvider(IDP), createdAt: at(1) })])
  const counts = (providers: GroupCircumstances['providers']) => countingGroups(own, { ...GIVEN, providers }).length
  assert.equal(counts([PROVIDER]), 1)
  assert.equal(counts([{ ...PROVIDER, disabledAt: at(5) }]), 0)
  assert.equal(counts([{ ...PROVIDER, createdAt: at(2) }]), 0)
  assert.equal(counts([{ ...PROVIDER, id: 'other' as ProviderId }]), 0)
  for (const groups of [[], ['8f3c=dev'], ['ops=dev'], ['8f3c=acme/ops'], ['8f3c=ops2'], ['8f3c=dev-ops']])
    assert.equal(counts([{ ...PROVIDER, settings: { groups } }]), 0)
  assert.equal(counts([]), 0)
})

test('GRP-01: the groups of an organization count for its grants alone, and while the membership is active', () => {
  const groups = [said('acme/finance'), said('globex/finance'), said('cluster-admins'), said('acme/cluster-admins')]
  const active = belonging(groups, [ACME, 'globex' as OrganizationId])
  assert.deepEqual(countingGroups(active, GIVEN), ['cluster-admins'])
  const forAcme = { ...GIVEN, organizationId: ACME }
  assert.deepEqual(countingGroups(active, forAcme), ['acme/cluster-admins', 'acme/finance', 'cluster-admins'])
  assert.deepEqual(countingGroups(belonging(groups, ['globex' as OrganizationId]), forAcme), ['cluster-admins'])
})
