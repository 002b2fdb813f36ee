import { newestSdk, newestSdkAsMachine } from './mcp-sdk.ts'
import { walkMcpLibrary } from './mcp-walk.ts'

walkMcpLibrary(newestSdk, newestSdkAsMachine)
