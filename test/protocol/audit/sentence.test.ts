import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUDIT_EVENTS, sentenceOf } from '../../../src/protocol/audit/event-names.ts'
import { DETAILS } from '../../texts/event-sentences.ts'
import { plainText, withoutObject, type Sentence } from '../../../src/protocol/audit/sentence.ts'

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

test('on the page of an object a sentence leaves its name out, or has a noun for it', () => {
  const names = { gus_1: 'ada@acme.test', gus_2: 'grace@acme.test', gci_1: 'Build Board' }
  const cases: readonly (readonly [event: string, own: string, actor: string | undefined, says: string])[] = [
    ['session.started', 'gus_1', undefined, 'Signed in with what the application knows'],
    ['user.disabled', 'gus_1', 'gus_2', '[grace@acme.test] disabled the user'],
    ['user.password-changed', 'gus_1', 'gus_2', '[grace@acme.test] changed the password'],
    ['client.verified', 'gci_1', 'gus_2', '[grace@acme.test] verified the client'],
    ['authorization.approved', 'gus_1', undefined, 'Allowed [Build Board]'],
    ['authorization.approved', 'gci_1', undefined, '[ada@acme.test] allowed the client'],
    ['client.secret-upgraded', 'gci_1', undefined, 'The hash of the secret was replaced at its first use'],
    ['sign-in.failed', 'gus_1', undefined, 'A wrong password, to [Build Board]'],
  ]
  for (const [event, own, actor, says] of cases) {
    const sentence = sentenceOf({ event, actor, userId: 'gus_1', clientId: 'gci_1' }, names)
    assert.equal(marked(withoutObject(sentence, own)), says, event)
  }
})

test('no sentence without the name of its object has two spaces, a comma at its beginning, or nothing', () => {
  const known = { userId: 'gus_1', clientId: 'gci_1', organizationId: 'gor_1' }
  for (const event of AUDIT_EVENTS)
    for (const actor of [undefined, 'command-line', 'gus_1', 'gus_2'])
      for (const own of Object.values(known))
        assert.match(
          marked(withoutObject(sentenceOf({ ...known, event, actor, details: DETAILS }, {}), own)),
          /^(?!.* {2})(?!.* ,)[[A-Z0-9]/,
          `${event}, ${String(actor)}, ${own}`,
        )
})

test('an id that every object has as a member is no name', () => {
  assert.deepEqual(sentenceOf({ event: 'client.verified', actor: '__proto__', clientId: 'constructor' }, {}), [
    { kind: 'object', noun: 'actor', id: '__proto__', name: '__proto__' },
    { kind: 'text', text: ' verified ' },
    { kind: 'object', noun: 'client', id: 'constructor', name: 'constructor' },
  ])
})

function marked(sentence: Sentence): string {
  return sentence.map((part) => (part.kind === 'object' ? `[${plainText([part])}]` : plainText([part]))).join('')
}
