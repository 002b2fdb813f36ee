import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentenceOf } from '../../../src/protocol/audit/event-names.ts'

test('a name is one part of a sentence, whatever it contains, and an object that has none is its id', () => {
  const name = '<a href="https://evil.test">, ${11} times</a>'
  const event = { event: 'client.verified', actor: 'gus_1', clientId: 'gci_1' }
  assert.deepEqual(sentenceOf(event, { gci_1: name }), [
    { kind: 'object', noun: 'actor', id: 'gus_1', name: 'gus_1' },
    { kind: 'text', text: ' verified ' },
    { kind: 'object', noun: 'client', id: 'gci_1', name },
  ])
})

test('the sentence of an event that this version does not know is its name', () => {
  for (const event of ['user.teleported', 'constructor', '__proto__', ''])
    assert.deepEqual(sentenceOf({ event }, {}), event === '' ? [] : [{ kind: 'text', text: event }])
})
