import { fileURLToPath } from 'node:url'

/** The variable that names the program of a run of tests. */
export const BUNDLED_PROGRAM = 'BUNDLED_TEST_PROGRAM'

/** The command line: that of the sources, or in a run of test/run.ts that of the bundle, which starts in two thirds of the time. */
export const PROGRAM = process.env[BUNDLED_PROGRAM] ?? fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
