import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../../../src/ports/operations/index.ts'
import { cutIntoWaves } from '../../../src/store/postgres/waves.ts'

const disable = (id: string): Operation => ({ name: 'disableClient', input: { id, now: 1 } }) as unknown as Operation
const end = (id: string): Operation => ({ name: 'endSession', input: { id, now: 1 } }) as unknown as Operation
const hold = (id: string): Operation => ({ name: 'extendRetention', input: { id, until: 1 } }) as unknown as Operation

function cut(...operations: readonly Operation[]): readonly string[] {
  const waves = cutIntoWaves(
    operations,
    ({ input }) => [(input as { readonly id: string }).id],
    (name) => name === 'extendRetention',
    (name) => name === 'endSession',
    ({ input }) => (input as { readonly sharedKeys?: readonly string[] }).sharedKeys ?? [],
  )
  return waves.map((wave) =>
    wave.map(({ operation, index, keys }) => `${index}:${operation.name}:${keys.join()}`).join(' '),
  )
}

test('operations without a common key are one wave, sorted by kind and then by key', () => {
  assert.deepEqual(cut(hold('b'), disable('d'), hold('a'), disable('c')), [
    '3:disableClient:c 1:disableClient:d 2:extendRetention:a 0:extendRetention:b',
  ])
})

test('an operation with a key of an earlier operation is in a later wave', () => {
  assert.deepEqual(cut(disable('a'), disable('a'), hold('a'), disable('b')), [
    '0:disableClient:a 3:disableClient:b',
    '1:disableClient:a',
    '2:extendRetention:a',
  ])
})

test('operations of one kind may have a further key in common, which orders them with those of other kinds', () => {
  const approve = (id: string, user: string): Operation =>
    ({ name: 'approveAuthorization', input: { id, sharedKeys: [user] } }) as unknown as Operation
  assert.deepEqual(cut(approve('a', 'u'), approve('b', 'u'), disable('u'), approve('c', 'u'), approve('a', 'v')), [
    '0:approveAuthorization:a 1:approveAuthorization:b',
    '4:approveAuthorization:a 2:disableClient:u',
    '3:approveAuthorization:c',
  ])
})

test('an operation that finds its rows by another column is a wave of its own, after the earlier and before the later ones', () => {
  assert.deepEqual(cut(disable('b'), hold('a'), end('c'), hold('d'), disable('b'), end('c'), end('e')), [
    '0:disableClient:b 1:extendRetention:a',
    '2:endSession:c',
    '4:disableClient:b 3:extendRetention:d',
    '5:endSession:c',
    '6:endSession:e',
  ])
})

test('operations of a kind that may share a key are one statement', () => {
  assert.deepEqual(cut(hold('a'), hold('a'), disable('a')), [
    '0:extendRetention:a 1:extendRetention:a',
    '2:disableClient:a',
  ])
})
