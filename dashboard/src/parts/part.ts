// What each part of a sandbox's page is given.
import type { Envd } from '../api'

export interface Detail {
  sandboxID: string
  templateID: string
  alias?: string
  startedAt: string
  endAt: string
  envdAccessToken?: string
  domain: string
  cpuCount: number
  memoryMB: number
  diskSizeMB: number
  metadata: Record<string, string>
  state: string
  network: { allowPublicTraffic: boolean; allowOut?: string[]; denyOut?: string[] }
  allowInternetAccess: boolean | null
  keyID?: string
  lifecycle: { autoResume: boolean; onTimeout: string }
  volumeMounts: { name: string; path: string }[]
}

export interface PartProps {
  id: string
  detail: Detail
  envd: Envd
}
