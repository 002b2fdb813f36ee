import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readOptions } from '../../tools/options.ts'

/**
 * The test files that take too long for `npm test`. Their names end with `.long.ts`: each program of `bench` in its shortest form, the
 * options of all programs, the commands of the rehearsal on PostgreSQL, and processes that are killed or restarted under load. Besides, the
 * tables of cases of which `npm test` runs a part (test/support/runner/cases.ts).
 */

readOptions({})
const tests = spawn(process.execPath, ['test/run.ts', '--long', '--only'], { stdio: 'inherit' })
const [code] = (await once(tests, 'exit')) as [number | null]
process.exitCode = code ?? 1
