import { runProgram } from '../tools/programs.ts'

await runProgram('prove')
