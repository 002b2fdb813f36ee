import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TASKS } from '../../../src/admin/tasks.ts'
import { openTerminal } from '../../../src/cli/lib/terminal.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { MEMBER_VERBS } from '../../../src/texts/task-words.ts'

const OF_GRANTS = ['list-grants', 'show-grant', 'revoke-grant']

test('the command line has a verb for every task, except for tasks that another verb performs with --organization', async () => {
  const { commands } = await createProgram(openTerminal(process, {}, 'grantor'), () => true)
  const sources = commands.flatMap(({ commands: verbs }) => verbs.map((verb) => verb.description()))
  // The operator's application performs its tasks over HTTP alone, and "grantor apply" is no verb.
  const missing = TASKS.filter(({ access, summary }) => access !== 'delegate' && !sources.includes(summary))
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('apply.'))
  const within = [
    ...MEMBER_VERBS.map((verb) => `member.${verb}`),
    ...OF_GRANTS.map((one) => `organization.${one}`),
    'organization-access.explain',
  ]
  assert.deepEqual(missing.toSorted(), within.toSorted())
})
