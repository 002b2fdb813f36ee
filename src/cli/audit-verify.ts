import type { Command } from 'commander'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** Exit code when the audit is not whole: the command itself did not fail. */
const FAULTY = 3

interface Report {
  readonly chains: number
  readonly links: number
  readonly events: number
  readonly faults: readonly { readonly what: string }[]
}

/** `grantor audit verify` */
export function addAuditVerify(parent: Command, terminal: Terminal): void {
  addTaskVerb<Report, { readonly head?: readonly string[] }>(parent, terminal, {
    verb: 'verify',
    task: 'audit.verify',
    options: (command) =>
      command
        .option(
          '--head <chain:sequence>',
          'a link that must be there, from an audit.head line of a log; repeatable',
          addHead,
        )
        .addHelpText('after', `\nExit code ${FAULTY}: something was changed or removed.`),
    input: ({ head }) => ({ head }),
    say: ({ chains, links, events, faults }) => [
      `${events} events in ${links} links of ${chains} chains. ${faults.length === 0 ? 'Nothing was changed or removed.' : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`}`,
      ...faults.map(({ what }) => `  ${what}`),
    ],
    exitCode: ({ faults }) => (faults.length === 0 ? 0 : FAULTY),
  })
}

function addHead(text: string, heads: readonly string[] = []): readonly string[] {
  return [...heads, text]
}
