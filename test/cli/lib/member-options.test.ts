import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import * as z from 'zod'
import { orNull } from '../../../src/protocol/null-meaning.ts'
import { defineTask } from '../../../src/admin/task.ts'
import { addMemberOptions, type OptionRows } from '../../../src/cli/lib/member-options.ts'
import { openTerminal } from '../../../src/cli/lib/terminal.ts'
import { createProgram } from '../../../src/cli/program.ts'

/** A task whose members have every form that an option can have. */
const TASK = defineTask({
  name: 'thing.update',
  method: 'PATCH',
  path: '/admin/v1/things/{thing_id}',
  access: 'read',
  summary: 'Change a thing.',
  input: z.object({
    thing_id: z.string(),
    full_name: orNull(z.string(), 'The name.', 'none'),
    grace_seconds: z.int().max(60).default(30).describe('How long it waits.'),
    redirect_uris: z.array(z.string()).optional().describe('Exact URIs.'),
    kind: z.enum(['small', 'large']).describe('The kind.'),
    since: z.iso.datetime({ offset: true }).optional().describe('The start.'),
    used: z.boolean().optional().describe('Whether it was used.'),
    loud: z.boolean().optional().describe('Whether it is loud.'),
    known: z.literal(true).optional().describe('The known ones.'),
    dry_run: z.boolean().default(false).describe('Whether nothing changes.'),
    rules: z.strictObject({ lifetime: orNull(z.int(), 'Seconds.', 'as the server') }).optional(),
    hidden: z.object({}).optional(),
  }),
  output: z.object({}),
  run: async () => ({}),
})
const ROWS: OptionRows = { used: { opposite: 'unused' }, 'rules.lifetime': { none: 'server' }, hidden: false }

function makeCommand() {
  const command = new Command('update').exitOverride().configureOutput({ writeErr: () => undefined })
  return { command, members: addMemberOptions(command, TASK, { rows: ROWS, others: new Set(['thing_id']) }) }
}

function read(...words: readonly string[]): unknown {
  const { command, members } = makeCommand()
  return members.read(command.parse(words, { from: 'user' }))
}

test('the name, the placeholder and the text of an option follow from the schema of the member', () => {
  const { command, members } = makeCommand()
  const lines = command.options.map(({ flags, mandatory, description }) => [flags, mandatory, description])
  assert.deepEqual(lines, [
    ['--full-name <name>', false, "the name; '': none"],
    ['--grace <seconds>', false, 'how long it waits, up to 60; by default 30'],
    ['--redirect-uri <uri>', false, "exact URIs; repeatable; '' for none"],
    ['--kind <kind>', true, 'the kind'],
    ['--since <time>', false, 'the start'],
    ['--used', false, 'it was used'],
    ['--unused', false, 'the opposite of --used'],
    ['--loud', false, 'it is loud'],
    ['--no-loud', false, 'the opposite of --loud'],
    ['--known', false, 'the known ones'],
    ['--dry-run', false, 'nothing changes'],
    ['--lifetime <lifetime>', false, 'seconds; server: as the server'],
  ])
  assert.deepEqual([members.longNameOf('grace_seconds'), members.longNameOf('thing_id')], ['--grace', undefined])
})

test('each option sets its member, and what is not given is absent', () => {
  assert.deepEqual(read('--kind', 'small'), { kind: 'small' })
  const texts = ['--full-name', '', '--grace', '5', '--redirect-uri', 'a:', '--redirect-uri', 'b:', '--kind', 'large']
  assert.deepEqual(
    read(...texts, '--since', '2026-01-31', '--unused', '--no-loud', '--dry-run', '--lifetime', 'server'),
    {
      full_name: null,
      grace_seconds: 5,
      redirect_uris: ['a:', 'b:'],
      kind: 'large',
      since: '2026-01-31T00:00:00Z',
      used: false,
      loud: false,
      dry_run: true,
      rules: { lifetime: null },
    },
  )
  assert.deepEqual(read('--kind', 'small', '--redirect-uri', '', '--lifetime', '9', '--used', '--loud'), {
    kind: 'small',
    redirect_uris: [],
    rules: { lifetime: 9 },
    used: true,
    loud: true,
  })
})

for (const [words, says] of [
  [[], /required option '--kind <kind>'/],
  [['--kind', 'huge'], /Allowed choices are small, large/],
  [['--kind', 'small', '--grace', '-1'], /Give a whole number/],
  [['--kind', 'small', '--lifetime', 'soon'], /Give a whole number/],
  [['--kind', 'small', '--since', 'yesterday'], /Give a day such as/],
  [['--kind', 'small', '--used', '--unused'], /--used and --unused exclude each other/],
  [['--kind', 'small', '--no-loud', '--loud'], /--loud and --no-loud exclude each other/],
] as const) {
  test(`a command is rejected with ${words.join(' ') || 'no option'}`, () => assert.throws(() => read(...words), says))
}

test('each option of the command line has a text, because the schema of its member has a description', async () => {
  const program = await createProgram(openTerminal(process, {}, 'grantor'), () => true)
  const without = program.commands.flatMap((noun) =>
    noun.commands.flatMap((verb) =>
      verb.options
        .filter(({ description }) => !/^[^;]/.test(description))
        .map(({ flags }) => `${noun.name()} ${verb.name()} ${flags}`),
    ),
  )
  assert.deepEqual(without, [])
})
