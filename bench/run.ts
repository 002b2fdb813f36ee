import { runProgram } from '../tools/programs.ts'

await runProgram('bench')
