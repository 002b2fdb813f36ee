import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  createMasterKey,
  masterKeyCheck,
  succeedMasterKey,
  unlockMasterKey,
  wrapMasterKey,
} from '../../src/keys/master-key.ts'
import { after, type EpochMs } from '../../src/base/brand.ts'
import { mintOrderedId } from '../../src/protocol/ids.ts'
import { openMasterKey, openSecrets, type MasterKey } from '../../src/protocol/secrets.ts'

const NOW = 1_800_000_000_000 as EpochMs
const OLD = 'the old root secret, of 32 characters'
const NEW = 'the new root secret, of 32 characters'

function stored(masterKey: MasterKey, rootSecret: string) {
  return { wrapped: wrapMasterKey(masterKey, rootSecret, randomBytes), check: masterKeyCheck(openMasterKey(masterKey)) }
}

test('STO-12: a wrapped master key opens under its root secret, as the current or the previous one, and under no other', () => {
  const masterKey = createMasterKey(randomBytes)
  const store = stored(masterKey, OLD)
  const unlocked = unlockMasterKey(store, { current: OLD, previous: undefined })
  assert.deepEqual([unlocked?.masterKey, unlocked?.under], [masterKey, 'current'])
  assert.equal(unlockMasterKey(store, { current: NEW, previous: OLD })?.under, 'previous')
  assert.equal(unlockMasterKey(store, { current: NEW, previous: undefined }), undefined)
  assert.equal(unlockMasterKey(store, { current: NEW, previous: 'x'.repeat(32) }), undefined)
})

test('STO-12: a wrapped master key contains neither the master key nor the root secret, and a changed one does not open', () => {
  const masterKey = createMasterKey(randomBytes)
  const store = stored(masterKey, OLD)
  const bytes = Buffer.from(store.wrapped, 'base64url')
  for (const secret of [masterKey.root, OLD]) assert.ok(!store.wrapped.includes(secret) && !bytes.includes(secret))
  const roots = { current: OLD, previous: undefined }
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.equal(unlockMasterKey({ ...store, wrapped: changed.toString('base64url') }, roots), undefined)
  }
  const other = stored(createMasterKey(randomBytes), OLD)
  assert.equal(unlockMasterKey({ ...store, check: other.check }, roots), undefined)
})

test('STO-12: in a store without a wrapped master key the first root secret is the master key', () => {
  const store = { wrapped: undefined, check: masterKeyCheck(openSecrets(OLD)) }
  const unlocked = unlockMasterKey(store, { current: NEW, previous: OLD })
  assert.deepEqual([unlocked?.masterKey, unlocked?.under], [{ root: OLD, former: [] }, 'previous'])
  assert.equal(unlockMasterKey(store, { current: NEW, previous: undefined }), undefined)
})

test('STO-12: after a leak no credential, CSRF token or signing key of the former master key is accepted', () => {
  const former = createMasterKey(randomBytes)
  const [before, since] = [openMasterKey(former), openMasterKey(succeedMasterKey(former, randomBytes, NOW, new Map()))]
  const { token } = before.mintFamily(mintOrderedId(NOW, randomBytes), NOW, randomBytes)
  assert.ok(before.verify('refresh-token', token))
  assert.equal(since.verify('refresh-token', token), undefined)
  assert.ok(!since.digestMatches('csrf', ['a'], before.digest('csrf', ['a'])))
  assert.ok(!since.encryptionKey.equals(before.encryptionKey))
})

test('STO-12: after leaks the look-ups of shared clients stay, and links of the audit match the master key of their time', () => {
  const first = createMasterKey(randomBytes)
  const second = succeedMasterKey(first, randomBytes, NOW, new Map([['ahead', after(NOW, 7_200_000)]]))
  const third = succeedMasterKey(second, randomBytes, after(NOW, 3_600_000), new Map())
  const [one, two, three] = [first, second, third].map(openMasterKey)
  assert.ok(one && two && three)
  for (const later of [two, three]) {
    assert.equal(later.digest('shared-client', ['metadata']), one.digest('shared-client', ['metadata']))
    assert.notEqual(later.digest('bucket', ['a']), one.digest('bucket', ['a']))
  }
  const link = (secrets: typeof one) => secrets.digest('audit', ['a link'])
  const matches = (secrets: typeof one, at: number, chainId = 'a chain') =>
    three.auditDigestMatches(['a link'], { chainId, recordedAt: after(NOW, at) }, link(secrets))
  assert.deepEqual([matches(one, -1), matches(one, 59_999), matches(one, 60_000)], [true, true, false])
  assert.deepEqual([matches(two, 3_600_000), matches(two, 3_660_000), matches(three, 3_660_000)], [true, false, true])
  // A chain that a clock that was ahead had written.
  assert.deepEqual([matches(one, 7_259_999, 'ahead'), matches(one, 7_260_000, 'ahead')], [true, false])
  assert.ok(!three.auditDigestMatches(['another link'], { chainId: 'a chain', recordedAt: NOW }, link(one)))
})
