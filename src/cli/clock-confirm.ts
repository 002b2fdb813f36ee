import type { Command } from 'commander'
import { moment } from './columns.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor clock confirm` */
export function addClockConfirm(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly time: string; readonly decided_by: 'operator' | 'database' }>(parent, terminal, {
    verb: 'confirm',
    task: 'clock.confirm',
    say: ({ time, decided_by }) =>
      decided_by === 'database'
        ? [`It is ${moment(time)} UTC by the clock of the database, which decides. Set the clocks of the nodes by NTP.`]
        : [
            `Confirmed: it is ${moment(time)} UTC. A server that waited for this issues tokens again within two seconds, and`,
            'deletes what has expired by this clock.',
          ],
  })
}
