import { useSyncExternalStore } from 'react'
import { type SessionState, session } from './session.ts'

export const useSessionState = (): SessionState => useSyncExternalStore(session.subscribe, session.state)
