import { formatTime } from '../lib/columns.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor clock`. */
export const CLOCK_VERBS: readonly AddVerb[] = [
  taskVerb<{ readonly time: string; readonly decided_by: 'operator' | 'database' }>({
    task: 'clock.confirm',
    say: ({ time, decided_by }) =>
      decided_by === 'database'
        ? [
            `Nodes use the clock of the database, which shows ${formatTime(time)} UTC. Set the clocks of the nodes by NTP.`,
          ]
        : [
            `Confirmed the time ${formatTime(time)} UTC. A server that waited for this issues tokens again within two seconds, and`,
            'deletes what has expired by this clock.',
          ],
  }),
]
