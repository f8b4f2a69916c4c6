// Templates as the API lists them.
import { all } from './api'

export interface Template {
  templateID: string
  buildID: string
  cpuCount: number
  memoryMB: number
  diskSizeMB: number
  public: boolean
  aliases: string[]
  names: string[]
  createdAt: string
  updatedAt: string
  lastSpawnedAt?: string
  spawnCount: number
  buildCount: number
  buildStatus: string
  spares: number
}

export const templates = (most?: number): Promise<Template[]> => all<Template>('/v2/templates', most)
