import { Command } from 'commander'
import { PassThrough } from 'node:stream'
import { isReading } from '../../src/admin/task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import { openTerminal } from '../../src/cli/lib/terminal.ts'
import { NOUNS } from '../../src/cli/program.ts'
import { answerOf } from './task-answers.ts'

/** What each command that changes something prints of a full answer, and of one with as little as it may have. */
export async function commandAnswers(): Promise<string> {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const terminal = openTerminal(streams, {}, 'grantor')
  const parts: string[] = []
  for (const [name, , load] of NOUNS) {
    const noun = new Command(name)
    const verbs = await load()
    for (const add of verbs) add(noun, terminal)
    for (const [index, { task: named, linesOf }] of verbs.entries()) {
      const command = noun.commands[index]
      if (named === undefined || linesOf === undefined || command === undefined) continue
      const task = requireTask(named)
      if (isReading(task)) continue
      const answers = [true, false].map((isFull) => linesOf(answerOf(task, isFull), command, terminal).join('\n'))
      parts.push(`=== ${name} ${command.name()}\n${[...new Set(answers)].join('\n--- with less\n')}\n`)
    }
  }
  return parts.join('\n')
}
