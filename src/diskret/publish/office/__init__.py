"""What the office keeps beside public files, to check them later. Confidential."""
