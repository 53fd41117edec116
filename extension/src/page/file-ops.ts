// The operations of files.
import { uploadOp, uploadPartOp, uploadPlaceOp } from './act/upload';
import type { PageOp } from './context';

export const fileOps: Record<string, PageOp> = { upload: uploadOp, upload_part: uploadPartOp, upload_place: uploadPlaceOp };
