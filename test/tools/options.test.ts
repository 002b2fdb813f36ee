import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choice, flag, list, names, number, optional, parseOptions, STORE, string, whole } from '../../tools/options.ts'

const TABLE = {
  seconds: number('length', 1, [0.05, 60]),
  rounds: whole('rounds', 5, [1, 100]),
  sizes: list(whole('sizes', 0, [1, 9]), '1,2'),
  only: names('parts', ['a', 'b'], 'all'),
  kind: choice('the kind', ['first', 'second']),
  rate: optional(number('a rate', 1, [1, 9])),
  save: string('name', 'the name', /^[a-z]+$/),
  json: flag('JSON'),
  store: STORE,
}

test('absent options have the values of the table', () => {
  assert.deepEqual(parseOptions([], TABLE), {
    seconds: 1,
    rounds: 5,
    sizes: [1, 2],
    only: ['a', 'b'],
    kind: 'first',
    rate: undefined,
    save: undefined,
    json: false,
    store: 'sqlite',
  })
})

test('given options replace them, and names are in the order of the table', () => {
  const args = '--seconds 0.5 --sizes none --only b,a --kind second --rate 3 --save x --json --store postgres'.split(
    ' ',
  )
  assert.deepEqual(parseOptions(args, TABLE), {
    seconds: 0.5,
    rounds: 5,
    sizes: [],
    only: ['a', 'b'],
    kind: 'second',
    rate: 3,
    save: 'x',
    json: true,
    store: 'postgres',
  })
})

for (const [args, message] of [
  ['--seconds many', /--seconds takes a number from 0.05 to 60/],
  ['--seconds 61', /--seconds takes a number/],
  ['--rounds 1.5', /--rounds takes a whole number from 1 to 100/],
  ['--sizes 1,99', /--sizes takes none, or for each entry a whole number/],
  ['--only c', /--only takes all, or names of: a, b/],
  ['--kind third', /--kind takes one of: first, second/],
  ['--save A', /--save takes text/],
  ['--store redis', /--store takes one of: sqlite, postgres/],
  ['--unknown 1', /--unknown/],
] as const) {
  test(`an invalid command line is refused: ${args}`, () => {
    assert.throws(() => parseOptions(args.split(' '), TABLE), message)
  })
}
