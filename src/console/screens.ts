import { CLIENTS } from './screens/clients.ts'
import type { AnyScreen } from './screen.ts'

/** The screens of the console. A screen can do what its row names, and nothing else. */
export const SCREENS: readonly AnyScreen[] = [CLIENTS]
